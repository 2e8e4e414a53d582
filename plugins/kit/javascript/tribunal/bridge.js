// Between the kit and the plugin interface. Only a built plugin loads this.

import { write } from "tribunal:plugin/log@1.0.0";
import { get } from "tribunal:plugin/settings@1.0.0";
import { DONE, Failure } from "./kit.js";
import { parameterOut, tableIn, tableOut } from "./values.js";

/** A call of the host; what it refuses is thrown as a Failure. */
function asked(work) {
  try {
    return work();
  } catch (error) {
    const failure = error?.payload ?? error;
    if (failure?.code !== undefined && !(failure instanceof Error)) throw new Failure(failure.code, failure.message);
    throw error;
  }
}

/** One database under one contract. */
class Session {
  #inner;

  constructor(inner) {
    this.#inner = inner;
  }

  /** The granted tables. */
  tables() {
    return this.#inner.tables();
  }

  /** Runs one query; `$1`, `$2`, .. stand for the parameters. */
  query(sql, parameters = []) {
    return tableIn(asked(() => this.#inner.query(sql, parameters.map(parameterOut))));
  }

  /** Runs one INSERT, UPDATE or DELETE; gives the rows it touched. */
  change(sql, parameters = []) {
    return Number(asked(() => this.#inner.change(sql, parameters.map(parameterOut))));
  }
}

/** What a plugin can ask its host for. */
export function host(open, between) {
  return {
    open: (role) => new Session(asked(() => open(role))),
    log: (message) => write(String(message)),
    settings: () => JSON.parse(get()),
    changes: () =>
      asked(between).map(({ name, removed, added }) => ({ name, removed: tableIn(removed), added: tableIn(added) })),
  };
}

/** Passes on a Failure, and says of every other exception at which line of the plugin it began. */
export function told(work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof Failure) throw { code: error.code, message: error.message };
    write(`panic: ${error?.name ?? "thrown"}: ${error?.message ?? error} at ${place(error?.stack)}`);
    throw error;
  }
}

/** The innermost line of the plugin itself. */
function place(stack = "") {
  const lines = stack.split("\n").map((line) => /\(?([^\s()]+\.m?js):(\d+)/.exec(line)).filter(Boolean);
  const own = lines.find(([, file]) => !/(^|\/)tribunal\//.test(file) && !file.endsWith("tribunal-entry.js"));
  const found = own ?? lines[0];
  return found ? `${found[1].replace(/^\.?\//, "")}:${found[2]}` : "a line that the engine does not name";
}

/** What the plugin says of itself. */
export function described({ name, version, tools = [], contract = `[contract]\nname = "${name}"\n` }) {
  const read = (tool) => ({ ...tool, arguments: JSON.stringify(tool.arguments) });
  return { name, version, tools: tools.map(read), contract };
}

/** What a tool gave. */
export function outputOut({ text = "", table = null }) {
  return { text, table: table === null ? null : tableOut(table) };
}

/** What a verifier is given to judge. */
export function evidenceIn({ submission, ...rest }) {
  const { tag, val } = submission;
  return { ...rest, submission: tag === "answer" ? tableIn(val) : tag === "done" ? DONE : val };
}

/** What a verifier decided. */
export function verdictOut(verdict) {
  if (verdict.ungradable !== undefined) return { tag: "ungradable", val: verdict.ungradable };
  const { reward, reason, difference } = verdict;
  const full = difference && { row: null, column: null, ...difference };
  return { tag: "scored", val: { reward, reason, difference: full ?? null } };
}
