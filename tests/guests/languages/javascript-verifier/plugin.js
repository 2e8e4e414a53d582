// A verifier that does what the conformance suite asks of every language.

import { DONE, Failure, Table, scored, ungradable } from "./tribunal/kit.js";

export const name = "verifier-conform";
export const version = "1.0.0";
export const contract = `
[contract]
name = "verifier-conform"
[[read]]
table = "kinds"
columns = ["id", "amount"]
`;

function words(expectation) {
  try {
    return JSON.parse(expectation).words;
  } catch {
    return undefined;
  }
}

export function verify(host, { submission, expectation, questions, calls }) {
  const expected = words(expectation);
  if (!Array.isArray(expected)) return ungradable("the expectation has no `words`");
  if (submission === DONE) return state(host);
  if (!(submission instanceof Table)) {
    return scored(0, "abstained", { path: "abstention", expected: "an answer", found: submission.reason });
  }
  const [column] = submission.columns;
  const row = expected.findIndex((word, row) => row < submission.length && word !== column.values[row]);
  if (row !== -1) {
    const found = String(column.values[row]);
    return scored(0, "mismatch", { path: "answer", row, column: column.name, expected: expected[row], found });
  }
  const failed = calls.filter((call) => call.failure != null).length;
  host.log(`${questions.length} questions, ${calls.length} calls, ${failed} failed`);
  return scored(1, "match");
}

function state(host) {
  try {
    host.open("agent");
    return ungradable("a verifier opened the agent's session");
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    host.log(failure.code);
  }
  const total = (role) => host.open(role).query("SELECT SUM(amount) AS total FROM kinds").rows()[0][0];
  const [first, last] = [total("first"), total("last")];
  const changed = host.changes().map(({ name, removed, added }) => `${name} -${removed.length} +${added.length}`);
  host.log(`${first} ${last} ${changed.join(", ")}`);
  return scored(changed.length > 0 ? 0.5 : 0, changed.length > 0 ? "changed" : "unchanged");
}
