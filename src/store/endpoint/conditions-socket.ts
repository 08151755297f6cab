/**
 * A WebSocket that holds conditions (`bucket/held-conditions.ts`): they are in force while the
 * connection is open.
 *
 * A move of the clock is answered when the buckets that are awake have done what has become due, such
 * as the expiry of uploads. The end of the connection moves the clock back; uploads that have expired
 * stay expired.
 */
import { heldConditions } from "../bucket/held-conditions.ts";
import { storeClock } from "../bucket/clock.ts";
import type { ConditionsReport, ConditionsRequest } from "../transport/conditions-message.ts";

/** RFC 6455, section 7.4.1: the other end has an unexpected problem. */
const internalErrorCode = 1011;

/**
 * @param housekeep does the work of all buckets that has become due
 * @returns the response to the request for an upgrade
 */
export function holdConditions(housekeep: () => Promise<void>): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  const holder = heldConditions.add();
  const answer = async (data: ArrayBuffer): Promise<void> => {
    try {
      const { conditions } = JSON.parse(new TextDecoder().decode(data)) as ConditionsRequest;
      if (conditions !== undefined && holder.replace(conditions)) await housekeep();
      const hits = holder.faults.map((fault) => fault.hits);
      const report: ConditionsReport = { hits, storeTime: storeClock.now() };
      server.send(new TextEncoder().encode(JSON.stringify(report)));
    } catch {
      server.close(internalErrorCode);
    }
  };
  const end = (): void => {
    heldConditions.remove(holder);
    server.close();
  };
  server.accept();
  server.binaryType = "arraybuffer";
  let answered = Promise.resolve();
  server.addEventListener("message", ({ data }) => {
    answered = answered.then(() => answer(data as ArrayBuffer));
  });
  server.addEventListener("close", end);
  server.addEventListener("error", end);
  return new Response(null, { status: 101, webSocket: client });
}
