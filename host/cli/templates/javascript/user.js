// A simulated user who knows a few things. The secret is
// {"knows": {"period": "The second quarter of 2025."}, "otherwise": "I cannot say."}: a question
// that names a word gets its reply.

import { Failure } from "./tribunal/kit.js";

export const name = "{{name}}";
export const version = "0.1.0";

export function reply(host, secret, about, question) {
  const { knows, otherwise } = secret;
  if (typeof knows !== "object" || typeof otherwise !== "string") {
    // For the author of the task: no byte of the secret may reach the agent.
    host.log("secret: `knows` must be an object and `otherwise` a text");
    throw new Failure("failed", "the user cannot answer");
  }
  const asked = `${about} ${question}`.toLowerCase().split(/[^\p{L}\p{N}_]+/u);
  const known = Object.keys(knows).sort().find((word) => asked.includes(word.toLowerCase()));
  return known === undefined ? otherwise : knows[known];
}
