// Judges an answer by the rows in its expectation, in any order: {"rows": [["Oslo"], ["Rome"]]}.

import { Table, scored, ungradable } from "./tribunal/kit.js";

export const name = "{{name}}";
export const version = "0.1.0";

// What this plugin asks for: nothing. One that compares states asks for the tables that it reads,
// and opens them with `host.open("first")` and `host.open("last")`, or asks for `host.changes()`.
export const contract = `
[contract]
name = "{{name}}"

[budget]
statements = 0
rows_returned = 0
`;

const texts = (rows) => rows.map((row) => row.map(String).join(", ")).sort();

function expectedRows(text) {
  try {
    return texts(JSON.parse(text).rows);
  } catch {
    return null;
  }
}

export function verify(host, { submission, expectation }) {
  const expected = expectedRows(expectation);
  // Who cannot judge says so: that is void, neither pass nor fail.
  if (expected === null) return ungradable('the expectation is not {"rows": [..]}');
  if (!(submission instanceof Table)) return scored(0, "no-answer");
  host.log(`an answer of ${submission.length} rows`);
  const found = texts(submission.rows());
  if (found.length !== expected.length) {
    const counts = { expected: `${expected.length} rows`, found: `${found.length} rows` };
    return scored(0, "row-count", { path: "answer", ...counts });
  }
  const row = found.findIndex((text, row) => text !== expected[row]);
  if (row === -1) return scored(1, "match");
  return scored(0, "row-mismatch", { path: "answer", row, expected: expected[row], found: found[row] });
}
