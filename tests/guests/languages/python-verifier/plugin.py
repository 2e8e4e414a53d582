"""A verifier that does what the conformance suite asks of every language."""

import json

from tribunal import DONE, Abstention, Difference, Failure, Ungradable, Verdict

NAME = "verifier-conform"
VERSION = "1.0.0"
CONTRACT = """
[contract]
name = "verifier-conform"
[[read]]
table = "kinds"
columns = ["id", "amount"]
"""


def verify(host, evidence):
    try:
        expected = json.loads(evidence.expectation)["words"]
    except (ValueError, KeyError, TypeError):
        return Ungradable("the expectation has no `words`")
    if isinstance(evidence.submission, Abstention):
        return Verdict(0, "abstained", Difference("abstention", "an answer", evidence.submission.reason))
    if evidence.submission == DONE:
        return state(host)
    [words] = evidence.submission.columns
    for row, (right, given) in enumerate(zip(expected, words.values)):
        if right != given:
            return Verdict(0, "mismatch", Difference("answer", right, str(given), row, words.name))
    failed = sum(call.failure is not None for call in evidence.calls)
    host.log(f"{len(evidence.questions)} questions, {len(evidence.calls)} calls, {failed} failed")
    return Verdict(1, "match")


def state(host):
    try:
        host.open("agent")
        return Ungradable("a verifier opened the agent's session")
    except Failure as failure:
        host.log(failure.code)
    sql = "SELECT SUM(amount) AS total FROM kinds"
    first, last = (host.open(role).query(sql).rows()[0][0] for role in ("first", "last"))
    changed = [f"{each.name} -{len(each.removed)} +{len(each.added)}" for each in host.changes()]
    host.log(f"{first} {last} {', '.join(changed)}")
    return Verdict(0.5 if changed else 0, "changed" if changed else "unchanged")
