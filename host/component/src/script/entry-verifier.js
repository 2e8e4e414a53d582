import "./tribunal/console.js";
import { open } from "tribunal:plugin/database@1.0.0";
import { between } from "tribunal:plugin/changes@1.0.0";
import { described, evidenceIn, host, told, verdictOut } from "./tribunal/bridge.js";
import * as plugin from "./{{source}}";

export const describe = () => told(() => described(plugin));
export const verify = (given) => told(() => verdictOut(plugin.verify(host(open, between), evidenceIn(given))));
