"""Judges an answer by the rows in its expectation, in any order: `{"rows": [["Oslo"], ["Rome"]]}`."""

import json

from tribunal import Difference, Table, Ungradable, Verdict

NAME = "{{name}}"
VERSION = "0.1.0"

# What this plugin asks for: nothing. One that compares states asks for the tables that it reads,
# and opens them with `host.open("first")` and `host.open("last")`, or asks for `host.changes()`.
CONTRACT = """
[contract]
name = "{{name}}"

[budget]
statements = 0
rows_returned = 0
"""


def verify(host, evidence):
    try:
        expected = sorted(tuple(str(cell) for cell in row) for row in json.loads(evidence.expectation)["rows"])
    except (ValueError, KeyError, TypeError) as error:
        # Who cannot judge says so: that is void, neither pass nor fail.
        return Ungradable(f"the expectation is not {{\"rows\": [..]}}: {error}")
    if not isinstance(evidence.submission, Table):
        return Verdict(0, "no-answer")
    host.log(f"an answer of {len(evidence.submission)} rows")
    found = sorted(tuple(str(cell) for cell in row) for row in evidence.submission.rows())
    if len(found) != len(expected):
        return Verdict(0, "row-count", Difference("answer", f"{len(expected)} rows", f"{len(found)} rows"))
    for row, (right, given) in enumerate(zip(expected, found)):
        if right != given:
            return Verdict(0, "row-mismatch", Difference("answer", ", ".join(right), ", ".join(given), row=row))
    return Verdict(1, "match")
