/**
 * The Miniflare plugin of exceptions: prints those that a script throws after its response
 * (`waitUntil()`) and outside of requests. wrangler prints them from the inspector, and a dev server
 * has an inspector only when the user asks for it.
 *
 *     script ── trace of each invocation ──▶ exceptions:tail ── console.error ──▶ the dev server
 *
 * wrangler prints the exception of a request itself, and the trace does not have it.
 */
import type { ParsedWorkerOptions, Plugin } from "miniflare";
import { addTailConsumer, scriptService } from "../base/miniflare.ts";
import { ownCompatibilityDate } from "../base/runtime.ts";
import { pluginBindings } from "./plugin-bindings.ts";

const pluginName = "exceptions";
const tailWorker = "ledge-exceptions";

const tailService = scriptService(tailWorker);

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

export const exceptionsPlugin: Plugin = {
  bindingTypeDescription: "Exceptions on the terminal",

  /** Miniflare calls this method before it reads the consumers of a script. */
  getExtensions({ options }) {
    for (const worker of options.filter(isObserved)) addTailConsumer(worker, tailWorker);
    return [];
  },

  /** A script sees nothing of its observation. */
  getBindings: () => [],
  getNodeBindings: () => ({}),

  getServices({ options: worker }) {
    if (!isObserved(worker)) return [];
    return [
      {
        name: tailService,
        worker: {
          compatibilityDate: ownCompatibilityDate,
          modules: [{ name: "exceptions.js", esModule: tailModule }],
        },
      },
    ];
  },
};

function isObserved(worker: ParsedWorkerOptions): boolean {
  return pluginBindings(worker, pluginName, { "unsafe:exceptions": "exceptions" }).length > 0;
}
