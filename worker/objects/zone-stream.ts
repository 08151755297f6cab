import type { ZoneData } from "../../src/dns/answer/zone-data.ts";
import { stateLines } from "../../src/dns/replication/listener-protocol.ts";

/** The lines of a zone as bytes: RPC passes byte streams only. */
export function streamState(data: ZoneData): ReadableStream<Uint8Array> {
  const lines = stateLines(data);
  const encoder = new TextEncoder();
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const { value, done } = lines.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
  });
}
