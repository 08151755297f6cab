/** The Miniflare plugins that observe a script by a tail worker: the script sees nothing of them. */
import type { Plugin, Worker } from "miniflare";
import { addTailConsumer, scriptService } from "../../base/miniflare.ts";
import { ownCompatibilityDate } from "../../base/runtime.ts";
import { activityMark } from "../../explorer/activity/trace.ts";
import { pluginBindings } from "./plugin-bindings.ts";

const streamingFlags = ["experimental", "streaming_tail_worker", "tail_worker_user_spans"];

/** An invocation with more events is a loop: its first events say enough. */
const eventsMax = 1000;
/** Of a key, a URL or a message. A line stays below two megabytes. */
const charactersMax = 2000;
/** An invocation that runs for longer is reported before its end: WebSockets stay open for hours. */
const runningMilliseconds = 1000;

/** `headers` and `cfJson` are most of the onset, and the explorer does not show them. */
const activityModule = `
const shorten = (name, value) => {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "string" && value.length > ${charactersMax}) return value.slice(0, ${charactersMax}) + "…";
  return name === "headers" || name === "cfJson" || name === "scriptTags" ? undefined : value;
};

export default {
  tailStream(onset) {
    const events = [];
    let dropped = 0;
    const add = ({ timestamp, spanContext, event }) => {
      events.push({ at: timestamp.getTime(), span: spanContext.spanId, event });
    };
    const report = (isRunning) => {
      const invocation = { id: onset.invocationId, reportedAt: Date.now(), isRunning, dropped, events };
      console.log(${JSON.stringify(activityMark)} + JSON.stringify(invocation, shorten));
    };
    add(onset);
    const timer = setTimeout(report, ${runningMilliseconds}, true);
    return (received) => {
      const { type } = received.event;
      if (type === "outcome" || type === "return" || events.length < ${eventsMax}) add(received);
      else dropped++;
      if (type !== "outcome") return;
      clearTimeout(timer);
      report(false);
    };
  },
};
`;

/**
 * The Miniflare plugin of activity: reports each invocation of a script with its calls, for the
 * explorer.
 *
 *     script ── streaming tail ──▶ activity:tail ── a line on the console ──▶ the dev server
 *
 * A line on the console, because workerd writes the line without a wait of the script, and the dev server
 * reads the console anyway.
 */
export const activityPlugin = tailPlugin({
  name: "activity",
  description: "Activity for the explorer",
  module: activityModule,
  isStreaming: true,
});

const exceptionsModule = `
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

/**
 * The Miniflare plugin of exceptions: prints those that a script throws after its response
 * (`waitUntil()`) and outside of requests. wrangler prints them from the inspector, and a dev server
 * has an inspector only when the user asks for it.
 *
 *     script ── trace of each invocation ──▶ exceptions:tail ── console.error ──▶ the dev server
 *
 * wrangler prints the exception of a request itself, and the trace does not have it.
 */
export const exceptionsPlugin = tailPlugin({
  name: "exceptions",
  description: "Exceptions on the terminal",
  module: exceptionsModule,
});

interface TailPluginOptions {
  /** The name of the plugin, and the type of the binding that asks for it: `unsafe:NAME`. */
  readonly name: string;
  readonly description: string;
  /** The source of the tail worker. */
  readonly module: string;
  /** Whether the worker gets the events one by one, with the spans of the trace. */
  readonly isStreaming?: boolean;
}

function tailPlugin(options: TailPluginOptions): Plugin {
  const { name, description, module, isStreaming = false } = options;
  const tailWorker = `ledge-${name}`;
  const isObserved = (worker: Parameters<typeof pluginBindings>[0]): boolean =>
    pluginBindings(worker, name, { [`unsafe:${name}`]: name }).length > 0;
  const worker: Worker = {
    compatibilityDate: ownCompatibilityDate,
    compatibilityFlags: isStreaming ? streamingFlags : undefined,
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
