// The plugin's logic, without a sandbox: `npm test`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "./plugin.js";
import { Table } from "./tribunal/kit.js";

// A host and a session in one, which knows one answer to one question.
const paper = {
  log: console.log,
  open: () => paper,
  tables: () => [],
  query(sql) {
    assert.equal(sql, 'SELECT COUNT(*) AS row_count FROM "invoices"');
    return new Table([{ name: "row_count", kind: "integer", values: [7] }]);
  },
};

test("rows are counted", () => {
  assert.deepEqual(call(paper, "count_rows", { table: "invoices" }).table.rows(), [[7]]);
});

test("another tool is unknown", () => {
  assert.throws(() => call(paper, "drop_table", {}), { code: "unknown" });
});
