// The plugin's logic, without a sandbox: `npm test`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { verify } from "./plugin.js";
import { DONE, Table } from "./tribunal/kit.js";

const EXPECTATION = '{"rows": [["Oslo"], ["Rome"]]}';
const cities = (values) => new Table([{ name: "city", kind: "text", values }]);
const verdict = (submission, expectation = EXPECTATION) => verify({ log: console.log }, { submission, expectation });

test("the right rows pass in any order", () => {
  assert.equal(verdict(cities(["Rome", "Oslo"])).reward, 1);
});

test("everything else fails", () => {
  const wrong = [["Rome"], ["Rome", "Oslo", "Oslo"], ["Rome", "Bern"], []].map(cities);
  for (const submission of [...wrong, DONE]) assert.equal(verdict(submission).reward, 0);
});

test("a broken expectation judges nobody", () => {
  assert.ok(verdict(cities(["Rome", "Oslo"]), "{}").ungradable);
});
