import { once } from "node:events";
import { MessageChannel } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Publication } from "../replication/publication.ts";
import { forwardPublications } from "./publication-server.ts";
import { serveThreadCalls } from "./thread-calls.ts";

const publications: Publication[] = [{ kind: "removed", zoneId: "z" }];

function channel(): MessageChannel {
  const made = new MessageChannel();
  onTestFinished(() => made.port1.close());
  return made;
}

describe("forwardPublications()", () => {
  it("resolves when every thread has acknowledged, and not before", async () => {
    const [one, other] = [channel(), channel()];
    const forward = forwardPublications([one.port1, other.port1]);
    const applying = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<readonly Publication[]>();
    serveThreadCalls(one.port2, { apply: async () => {} });
    serveThreadCalls(other.port2, {
      apply(given: readonly Publication[]) {
        arrived.resolve(given);
        return applying.promise;
      },
    });
    let sent = false;
    const sending = forward(publications).then(() => (sent = true));
    expect(await arrived.promise).toEqual(publications);
    // After another message, the acknowledgement of the first thread has arrived.
    const more = channel();
    more.port2.postMessage(null);
    await once(more.port1, "message");
    expect(sent).toBe(false);
    applying.resolve();
    await sending;
  });

  it("does not wait for a thread that has ended or fails", async () => {
    const [gone, failing] = [channel(), channel()];
    const forward = forwardPublications([gone.port1, failing.port1]);
    serveThreadCalls(failing.port2, {
      apply: () => Promise.reject(new Error("expected in this test")),
    });
    const sending = forward(publications);
    gone.port2.close();
    await expect(sending).resolves.toBeUndefined();
    await expect(forward(publications)).resolves.toBeUndefined();
  });
});
