// The kit of Tribunal for plugins in JavaScript.
//
// Values are plain JavaScript: null, booleans, numbers, strings and bigints. Which of SQL's kinds
// a value is stands in its column; a parameter says it with `integer`, `float`, `decimal`, `date`
// or `timestamp` where JavaScript cannot tell. Decimals, dates and timestamps are their texts:
// "12.50", "2025-06-30", "2025-06-30T12:00:00.000001".
//
// What fails is thrown as a `Failure`, which an agent may read; any other exception breaks the
// call, and the log says at which line.

/** The kinds of a column. */
export const KINDS = ["unknown", "boolean", "integer", "float", "decimal", "text", "date", "timestamp"];
/** Why something did not happen. */
export const CODES = ["denied", "unknown", "unsupported", "quota", "invalid", "failed"];
/** The submission of an agent that says that the database is as it should be. */
export const DONE = "done";

/** A failure as the agent may read it; `code` is one of `CODES`. */
export class Failure extends Error {
  constructor(code, message) {
    if (!CODES.includes(code)) throw new TypeError(`code ${code}: one of ${CODES.join(", ")} expected`);
    super(message);
    this.code = code;
  }
}

/** A table of columns `{name, kind, values}`, a value for each row; null is NULL. */
export class Table {
  constructor(columns) {
    this.columns = columns;
  }

  get length() {
    return this.columns.length === 0 ? 0 : this.columns[0].values.length;
  }

  /** The rows, as arrays. */
  rows() {
    return Array.from({ length: this.length }, (_, row) => this.columns.map((column) => column.values[row]));
  }
}

/** Parameters of a kind that JavaScript cannot tell from another. */
export const integer = (value) => ({ kind: "integer", value });
export const float = (value) => ({ kind: "float", value });
export const decimal = (text) => ({ kind: "decimal", value: text });
export const date = (text) => ({ kind: "date", value: text });
export const timestamp = (text) => ({ kind: "timestamp", value: text });

/** A score between 0 and 1 with a stable reason in lower-case words joined by `-`. */
export const scored = (reward, reason, difference = null) => ({ reward, reason, difference });
/** This verifier cannot judge this: void, neither pass nor fail. */
export const ungradable = (why) => ({ ungradable: why });

/** A name as SQL takes it, whatever stands in it. */
export const quoted = (name) => `"${name.replaceAll('"', '""')}"`;
