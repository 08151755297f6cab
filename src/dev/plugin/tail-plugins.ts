/** The Miniflare plugins that observe a script by a tail worker: the script sees nothing of them. */
import type { ParsedWorkerOptions, Plugin, Worker } from "miniflare";
import { addTailConsumer, callingMiniflare, scriptService } from "../../base/miniflare.ts";
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

/** By the id of the invocation. */
const running = new Map();

export default {
  fetch: () => new Response(JSON.stringify([...running.values()], shorten)),

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
    const entry = { id: onset.invocationId, events: [...events], isSocket: false };
    running.set(entry.id, entry);
    const timer = setTimeout(report, ${runningMilliseconds}, true);
    return (received) => {
      const { type, info } = received.event;
      // A response without a status is a WebSocket.
      if (type === "return" && onset.event.info?.type === "fetch") entry.isSocket = info?.statusCode === undefined;
      if (type === "outcome" || type === "return" || events.length < ${eventsMax}) add(received);
      else dropped++;
      if (type !== "outcome") return;
      clearTimeout(timer);
      running.delete(entry.id);
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

function tailWorkerName(plugin: string): string {
  return `ledge-${plugin}`;
}

function isObservedBy(plugin: string, worker: ParsedWorkerOptions): boolean {
  return pluginBindings(worker, plugin, { [`unsafe:${plugin}`]: plugin }).length > 0;
}

/** The service of the tail worker that reports activity. A request is answered with the invocations that run. */
export const activityService = scriptService(tailWorkerName("activity"));

export function isActivityObserved(worker: ParsedWorkerOptions): boolean {
  return isObservedBy("activity", worker);
}

function tailPlugin(options: TailPluginOptions): Plugin {
  const { name, description, module, isStreaming = false } = options;
  const tailWorker = tailWorkerName(name);
  const isObserved = (worker: ParsedWorkerOptions): boolean => isObservedBy(name, worker);
  const worker: Worker = {
    compatibilityDate: ownCompatibilityDate,
    compatibilityFlags: isStreaming ? streamingFlags : undefined,
    modules: [{ name: `${name}.js`, esModule: module }],
  };
  return {
    bindingTypeDescription: description,

    /** Miniflare calls this method before it reads the consumers of a script. */
    getExtensions({ options: workers }) {
      const miniflare = callingMiniflare();
      for (const each of workers.filter(isObserved)) {
        addTailConsumer(miniflare, each, tailWorker, { isStreaming });
      }
      return [];
    },

    getBindings: () => [],
    getNodeBindings: () => ({}),
    getServices: ({ options: each }) =>
      isObserved(each) ? [{ name: scriptService(tailWorker), worker }] : [],
  };
}
