import "./tribunal/console.js";
import { described, host, told } from "./tribunal/bridge.js";
import * as plugin from "./{{source}}";

export const describe = () => told(() => described(plugin));
export const reply = (secret, about, question) =>
  told(() => plugin.reply(host(), JSON.parse(secret), about, question));
