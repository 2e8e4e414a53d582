// The plugin's logic, without a sandbox: `npm test`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reply } from "./plugin.js";

const SECRET = { knows: { period: "The second quarter of 2025." }, otherwise: "I cannot say." };
const ask = (secret, question) => reply({ log: console.log }, secret, "", question);

test("a word that is known gets its reply", () => {
  assert.equal(ask(SECRET, "Which period do you mean?"), "The second quarter of 2025.");
});

test("nothing else is said", () => {
  assert.equal(ask(SECRET, "periodically"), "I cannot say.");
});

test("a broken secret is not told", () => {
  assert.throws(() => ask({ knows: "hush" }, "period"), { message: "the user cannot answer" });
});
