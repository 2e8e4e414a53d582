// A tool that does what the conformance suite asks of every language.

import { Failure, Table, date, decimal, float, integer, timestamp } from "./tribunal/kit.js";

export const name = "tool-conform";
export const version = "1.0.0";
export const contract = `
[contract]
name = "tool-conform"
[[read]]
table = "*"
columns = ["*"]
[[write]]
table = "*"
verbs = ["insert", "update", "delete"]
columns = ["*"]
`;
export const tools = [
  {
    name: "act",
    description: "Does one thing.",
    arguments: {
      type: "object",
      required: ["do"],
      properties: { do: { type: "string" }, sql: { type: "string" } },
    },
  },
];

let calls = 0;

const ACTS = {
  query: (host, { sql }) => ({ table: host.open("agent").query(sql) }),

  change: (host, { sql }) => ({ text: String(host.open("agent").change(sql)) }),

  parameters(host) {
    const given = [null, true, integer(42), float(-0.5), decimal("12.50"), "naïve 日本 😀", date("2025-06-30")];
    given.push(timestamp("2025-06-30T12:34:56.000001"));
    const sql =
      "UPDATE kinds SET flag = $2, number = $3, ratio = $4, amount = $5, word = $6, day = $7, at = $8, nothing = $1";
    const session = host.open("agent");
    session.change(`${sql} WHERE id = 1`, given);
    return { table: session.query("SELECT * FROM kinds WHERE id = 1") };
  },

  made() {
    const columns = [
      { name: "flag", kind: "boolean", values: [true, null] },
      { name: "number", kind: "integer", values: [-7, null] },
      { name: "ratio", kind: "float", values: [0.25, null] },
      { name: "amount", kind: "decimal", values: ["100", null] },
      { name: "word", kind: "text", values: ['é\n"', null] },
      { name: "day", kind: "date", values: ["1969-12-31", null] },
      { name: "at", kind: "timestamp", values: ["1969-12-31T23:59:59.999999", null] },
      { name: "nothing", kind: "unknown", values: [null, null] },
    ];
    return { text: "made", table: new Table(columns) };
  },

  role: (host) => host.open("last"),

  refuse() {
    throw new Failure("invalid", "not like this: ünmöglich");
  },

  state: () => ({ text: String(calls) }),

  chance: () => ({ text: `${new Date().toISOString().slice(0, 10)} ${Math.random()} ${Math.random()}` }),

  shout() {
    for (let line = 0; line < 5_000; line += 1) console.log(`line ${line} is written to standard output`);
    console.error("and this to standard error");
    return { text: "done" };
  },

  broken: () => ({ text: undefined.length }),

  spin() {
    for (;;);
  },

  grow() {
    const held = [];
    for (;;) held.push(new Uint8Array(1 << 20).fill(1));
  },
};

export function call(host, name, given) {
  calls += 1;
  return ACTS[given.do](host, given);
}
