// The tool `query` of the built-in plugin of that name, in JavaScript: it takes its place in a run.

export const name = "tool-query";
export const version = "0.1.0";
export const contract = `[contract]
name = "tool-query"

[[read]]
table = "*"
columns = ["*"]
`;
export const tools = [
  {
    name: "query",
    description: "Runs one read-only SQL query and gives its result as a table.",
    arguments: {
      type: "object",
      additionalProperties: false,
      required: ["sql"],
      properties: {
        sql: { type: "string", minLength: 1, description: "One SELECT statement." },
        limit: { type: "integer", minimum: 1, maximum: 100000, description: "Keep only the first rows." },
      },
    },
  },
];

export function call(host, name, { sql, limit }) {
  const table = host.open("agent").query(sql);
  if (limit === undefined || table.length <= limit) return { table };
  const text = `${table.length} rows; only the first ${limit} are shown`;
  for (const column of table.columns) column.values.length = limit;
  return { text, table };
}
