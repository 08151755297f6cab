/** What happens in the project, as it happens. */
import { activityStream, changeStream } from "../activity-log.ts";
import { CallError, type ExplorerResponse } from "../call.ts";
import { type ExplorerCall, type Route } from "../context.ts";

function streamed(body: AsyncGenerator<Uint8Array>): ExplorerResponse {
  return { status: 200, headers: { "content-type": "text/event-stream" }, body };
}

/** A browser that connects again says the last id itself, and its address has the first one. */
function lastId({ headers, query }: ExplorerCall): number {
  const given = headers["last-event-id"] ?? query.get("after") ?? "0";
  const id = Number(given);
  if (!Number.isSafeInteger(id) || id < 0) {
    throw new CallError(400, '"after" is not the id of an entry.');
  }
  return id;
}

export const activityRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/activity",
    handle: async (call) =>
      streamed(activityStream(call.context.activity, { after: lastId(call), signal: call.signal })),
  },
  {
    method: "GET",
    path: "/api/changes",
    handle: async ({ context, signal }) => streamed(changeStream(context.changes, signal)),
  },
];
