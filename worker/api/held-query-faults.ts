/**
 * A WebSocket that holds faults of queries: they are in force while the connection is open, so that a
 * process that is killed leaves no fault behind. The messages are JSON in bytes:
 *
 *     { "conditions": { "faults": […] } }   replaces the faults of this connection; `null` ends them
 *     {}                                    changes nothing
 *
 * The answer to each is `{ "hits": […] }`: the number of queries that each fault has hit.
 */
import { readQueryFault } from "../../src/dns/fault/query-fault.ts";
import type { Env } from "../objects/environment.ts";
import { heldHits, holdQueryFaults } from "../objects/query-observation.ts";

/** RFC 6455, section 7.4.1: the other end has an unexpected problem. */
const internalErrorCode = 1011;

interface HoldRequest {
  readonly conditions?: { readonly faults: readonly unknown[] } | null;
}

/** @returns the response to the request for an upgrade */
export function serveHeldFaults(env: Env): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  /** The faults of this connection as they were given, with their ids. */
  let held: { readonly given: string; readonly id: number }[] = [];
  let isEnded = false;

  /** A fault that stays goes on counting. */
  const replace = async (next: readonly unknown[]): Promise<void> => {
    const faults = next.map((given) => ({
      given: JSON.stringify(given),
      fault: readQueryFault(given),
    }));
    const kept = held.filter(({ given }) => faults.some((each) => each.given === given));
    const released = held.filter((each) => !kept.includes(each));
    const added = faults.filter(({ given }) => !kept.some((each) => each.given === given));
    const ids = await holdQueryFaults(
      env,
      released.map(({ id }) => id),
      added.map(({ fault }) => fault),
    );
    const all = [
      ...kept,
      ...added.map(({ given }, index) => ({ given, id: ids[index] as number })),
    ];
    held = faults.flatMap(({ given }) => all.find((each) => each.given === given) ?? []);
  };

  const answer = async (data: ArrayBuffer): Promise<void> => {
    try {
      const { conditions } = JSON.parse(new TextDecoder().decode(data)) as HoldRequest;
      if (isEnded) return;
      if (conditions !== undefined) await replace(conditions?.faults ?? []);
      const hits = heldHits(held.map(({ id }) => id));
      server.send(new TextEncoder().encode(JSON.stringify({ hits })));
    } catch {
      server.close(internalErrorCode);
    }
  };

  let changes = Promise.resolve();
  const end = (): void => {
    if (isEnded) return;
    isEnded = true;
    changes = changes.then(() => replace([])).catch(() => {});
    server.close();
  };
  server.accept();
  server.binaryType = "arraybuffer";
  server.addEventListener("message", ({ data }) => {
    changes = changes.then(() => answer(data as ArrayBuffer));
  });
  server.addEventListener("close", end);
  server.addEventListener("error", end);
  return new Response(null, { status: 101, webSocket: client });
}
