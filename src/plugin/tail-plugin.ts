/** A Miniflare plugin that observes a script by a tail worker: the script sees nothing of it. */
import type { Plugin, Worker } from "miniflare";
import { addTailConsumer, scriptService } from "../base/miniflare.ts";
import { ownCompatibilityDate } from "../base/runtime.ts";
import { pluginBindings } from "./plugin-bindings.ts";

interface TailPluginOptions {
  /** The name of the plugin, and the type of the binding that asks for it: `unsafe:NAME`. */
  readonly name: string;
  readonly description: string;
  /** The source of the tail worker. */
  readonly module: string;
  /** Whether the worker gets the events one by one, with the spans of the trace. */
  readonly isStreaming?: boolean;
}

const streamingFlags = ["experimental", "streaming_tail_worker", "tail_worker_user_spans"];

export function tailPlugin(options: TailPluginOptions): Plugin {
  const { name, description, module, isStreaming = false } = options;
  const tailWorker = `ledge-${name}`;
  const isObserved = (worker: Parameters<typeof pluginBindings>[0]): boolean =>
    pluginBindings(worker, name, { [`unsafe:${name}`]: name }).length > 0;
  const worker: Worker = {
    compatibilityDate: ownCompatibilityDate,
    ...(isStreaming && { compatibilityFlags: streamingFlags }),
    modules: [{ name: `${name}.js`, esModule: module }],
  };
  return {
    bindingTypeDescription: description,

    /** Miniflare calls this method before it reads the consumers of a script. */
    getExtensions({ options: workers }) {
      for (const each of workers.filter(isObserved)) {
        addTailConsumer(each, tailWorker, { isStreaming });
      }
      return [];
    },

    getBindings: () => [],
    getNodeBindings: () => ({}),
    getServices: ({ options: each }) =>
      isObserved(each) ? [{ name: scriptService(tailWorker), worker }] : [],
  };
}
