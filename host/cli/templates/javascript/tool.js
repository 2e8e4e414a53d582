// The tool `count_rows`: how many rows a table has.

import { Failure, quoted } from "./tribunal/kit.js";

export const name = "{{name}}";
export const version = "0.1.0";

// What this plugin asks for. A task grants as much of it as it wants to, and never more.
export const contract = `
[contract]
name = "{{name}}"

[[read]]
table = "*"
columns = ["*"]
`;

// The JSON Schema of the arguments; an agent's call that does not fit never comes here.
export const tools = [
  {
    name: "count_rows",
    description: "Counts the rows of a table.",
    arguments: {
      type: "object",
      additionalProperties: false,
      required: ["table"],
      properties: { table: { type: "string", description: "The table's name." } },
    },
  },
];

export function call(host, name, { table }) {
  if (name !== "count_rows") throw new Failure("unknown", `no tool ${name}`);
  const session = host.open("agent");
  host.log(`${session.tables().length} tables are granted`);
  return { table: session.query(`SELECT COUNT(*) AS row_count FROM ${quoted(table)}`) };
}
