import "./tribunal/console.js";
import { open } from "tribunal:plugin/database@1.0.0";
import { described, host, outputOut, told } from "./tribunal/bridge.js";
import * as plugin from "./{{source}}";

export const describe = () => told(() => described(plugin));
export const call = (name, given) =>
  told(() => outputOut(plugin.call(host(open), name, JSON.parse(given))));
