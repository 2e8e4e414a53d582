// `console` for a plugin: every method writes a line to the plugin's log.

import { write } from "tribunal:plugin/log@1.0.0";

const shown = (value) => (typeof value === "string" ? value : (JSON.stringify(value) ?? String(value)));
const line = (...values) => write(values.map(shown).join(" "));

globalThis.console ??= { log: line, info: line, warn: line, error: line, debug: line };
