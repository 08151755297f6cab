/**
 * The Miniflare plugin of exceptions: prints those that a script throws after its response
 * (`waitUntil()`) and outside of requests. wrangler prints them from the inspector, and a dev server
 * has an inspector only when the user asks for it.
 *
 *     script ── trace of each invocation ──▶ exceptions:tail ── console.error ──▶ the dev server
 *
 * wrangler prints the exception of a request itself, and the trace does not have it.
 */
import { tailPlugin } from "./tail-plugin.ts";

const tailModule = `
export default {
  tail(invocations) {
    for (const { exceptions } of invocations) {
      for (const { name, message, stack } of exceptions) {
        console.error("Uncaught " + name + ": " + message + (stack ? "\\n" + stack : ""));
      }
    }
  },
};
`;

export const exceptionsPlugin = tailPlugin({
  name: "exceptions",
  description: "Exceptions on the terminal",
  module: tailModule,
});
