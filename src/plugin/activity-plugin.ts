/**
 * The Miniflare plugin of activity: reports each invocation of a script with its calls, for the
 * explorer.
 *
 *     script ── streaming tail ──▶ activity:tail ── a line on the console ──▶ the dev server
 *
 * A line on the console, because workerd writes the line without a wait of the script, and the dev server
 * reads the console anyway.
 */
import { activityMark } from "../explorer/activity/invocation.ts";
import { tailPlugin } from "./tail-plugin.ts";

/** An invocation with more events is a loop: its first events say enough. */
const eventsMax = 1000;
/** Of a key, a URL or a message. A line stays below two megabytes. */
const charactersMax = 2000;
/** An invocation that runs for longer is reported before its end: WebSockets stay open for hours. */
const runningMilliseconds = 1000;

/** `headers` and `cfJson` are most of the onset, and the explorer does not show them. */
const tailModule = `
const shorten = (name, value) => {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "string" && value.length > ${charactersMax}) return value.slice(0, ${charactersMax}) + "…";
  return name === "headers" || name === "cfJson" || name === "scriptTags" || name === "stack" ? undefined : value;
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

export const activityPlugin = tailPlugin({
  name: "activity",
  description: "Activity for the explorer",
  module: tailModule,
  isStreaming: true,
});
