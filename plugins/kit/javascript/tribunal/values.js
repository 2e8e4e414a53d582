// Values and tables, from the plugin interface to the kit and back.

import { Failure, KINDS, Table } from "./kit.js";

const DAY = 86_400_000;

/** Integers come as numbers: what a number does not hold exactly is refused, never rounded. */
function safe(value, what) {
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return value;
  throw new Failure("unsupported", `${what}: an integer beyond 2^53 is not exact in JavaScript; select it as text`);
}

function integerOut(value, what) {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (Number.isSafeInteger(number)) return number;
  throw new Failure("unsupported", `${what}: ${value} is no integer that JavaScript holds exactly`);
}

const pad = (number, digits) => String(number).padStart(digits, "0");

function dateText(days) {
  return new Date(days * DAY).toISOString().split("T")[0];
}

function days(text, what) {
  const found = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(found)) throw new TypeError(`${what}: ${text} is no date such as 2025-06-30`);
  return found / DAY;
}

function timestampText(microseconds) {
  const micro = ((microseconds % 1000) + 1000) % 1000;
  const text = new Date((microseconds - micro) / 1000).toISOString().slice(0, -1);
  return `${text}${pad(micro, 3)}`;
}

function timestampOut(text, what) {
  const found = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?$/.exec(text);
  if (!found) throw new TypeError(`${what}: ${text} is no time such as 2025-06-30T12:00:00.000001`);
  const [, day, hours, minutes, seconds, fraction = ""] = found;
  const time = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return days(day, what) * DAY * 1000 + time * 1e6 + Number(fraction.padEnd(6, "0"));
}

const is = (type) => (value, what) => {
  if (typeof value !== type) throw new TypeError(`${what}: ${type} expected, ${typeof value} found`);
  return value;
};
const isText = is("string");

// For each kind: its case of `cells`, from there, to there, and what stands for NULL there.
const KIND = {
  boolean: ["booleans", (value) => value, is("boolean"), false],
  integer: ["integers", safe, integerOut, 0],
  float: ["floats", (value) => value, is("number"), 0],
  decimal: ["decimals", (value) => value, isText, ""],
  text: ["texts", (value) => value, isText, ""],
  date: ["dates", dateText, days, 0],
  timestamp: ["timestamps", timestampText, timestampOut, 0],
};
const TEXTS = ["decimals", "texts"];

function bytesOf(text) {
  let bytes = 0;
  for (const letter of text) {
    const code = letter.codePointAt(0);
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** Where texts end is counted in bytes, and a string of JavaScript is not. */
function textsIn({ data, ends }) {
  const found = [];
  let [byte, start, at] = [0, 0, 0];
  for (const end of ends) {
    while (byte < end) {
      const letter = String.fromCodePoint(data.codePointAt(at));
      byte += bytesOf(letter);
      at += letter.length;
    }
    found.push(data.slice(start, at));
    start = at;
  }
  return found;
}

function textsOut(values) {
  let end = 0;
  const ends = values.map((value) => (end += bytesOf(value)));
  return { data: values.join(""), ends };
}

/** A table of the host. */
export function tableIn({ rows, columns }) {
  return new Table(columns.map((column) => columnIn(column, rows)));
}

function columnIn({ name, nulls, cells }, rows) {
  const kind = KINDS.find((kind) => KIND[kind]?.[0] === cells.tag);
  if (kind === undefined) return { name, kind: "unknown", values: Array(rows).fill(null) };
  const values = TEXTS.includes(cells.tag) ? textsIn(cells.val) : Array.from(cells.val);
  const isNull = (row) => nulls.length > 0 && (nulls[row >> 3] >> (row & 7)) & 1;
  const read = (value, row) => (isNull(row) ? null : KIND[kind][1](value, `column ${name}`));
  return { name, kind, values: values.map(read) };
}

/** A table for the host. */
export function tableOut(table) {
  return { rows: table.length, columns: table.columns.map(columnOut) };
}

function columnOut({ name, kind, values }) {
  if (kind === "unknown") return { name, nulls: new Uint8Array(0), cells: { tag: "unknown" } };
  if (!(kind in KIND)) throw new TypeError(`column ${name}: kind ${kind}; one of ${KINDS.join(", ")} expected`);
  const [tag, , write, nothing] = KIND[kind];
  const nulls = new Uint8Array(Math.ceil(values.length / 8));
  const cells = values.map((value, row) => {
    if (value !== null && value !== undefined) return write(value, `column ${name}, row ${row}`);
    nulls[row >> 3] |= 1 << (row & 7);
    return nothing;
  });
  const bits = nulls.some((byte) => byte !== 0) ? nulls : new Uint8Array(0);
  return { name, nulls: bits, cells: { tag, val: TEXTS.includes(tag) ? textsOut(cells) : cells } };
}

/** A parameter of a statement. */
export function parameterOut(value, place) {
  const what = `parameter ${place + 1}`;
  if (value === null || value === undefined) return { tag: "null" };
  if (typeof value === "object") return { tag: value.kind, val: KIND[value.kind][2](value.value, what) };
  if (typeof value === "boolean") return { tag: "boolean", val: value };
  if (typeof value === "string") return { tag: "text", val: value };
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return { tag: "integer", val: integerOut(value, what) };
  if (typeof value === "number") return { tag: "float", val: value };
  throw new TypeError(`${what}: ${typeof value} is no value of a database`);
}
