/** What happens in the project, as it happens. */
import { activityStream } from "../activity-stream.ts";
import { CallError, type ExplorerCall, type Route } from "../call.ts";

export const activityRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/activity",
    handle: async (call) => ({
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: activityStream(call.context.activity, { after: lastId(call), signal: call.signal }),
    }),
  },
];

/** A browser that connects again says the last id itself, and its address has the first one. */
function lastId({ headers, query }: ExplorerCall): number {
  const given = headers["last-event-id"] ?? query.get("after") ?? "0";
  const id = Number(given);
  if (!Number.isSafeInteger(id) || id < 0) {
    throw new CallError(400, '"after" is not the id of an entry.');
  }
  return id;
}
