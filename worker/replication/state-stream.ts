import type { ZoneData } from "../../src/dns/answer/zone-data.ts";
import { stateLines } from "../../src/dns/replication/listener-protocol.ts";

/** A zone on its way to a listener, a line at a time. */
export function stateStream(data: ZoneData): ReadableStream<Uint8Array> {
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
