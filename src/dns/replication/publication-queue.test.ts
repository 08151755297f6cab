import { expect, test, vi } from "vitest";
import { PublicationQueue } from "./publication-queue.ts";
import type { Publication } from "./publication.ts";

const removed = (zoneId: string): Publication => ({ kind: "removed", zoneId });

/** Listeners that take a message, or fail, as `answers` says; then they take all. */
function listeners(...answers: ("taken" | "lost")[]) {
  const messages: string[][] = [];
  const waits: PromiseWithResolvers<void>[] = [];
  const publisher = new PublicationQueue({
    async send(publications) {
      messages.push((publications as readonly { zoneId: string }[]).map(({ zoneId }) => zoneId));
      if (answers.shift() === "lost") throw new Error("expected in this test");
    },
    wait() {
      const wait = Promise.withResolvers<void>();
      waits.push(wait);
      return wait.promise;
    },
    onLost: () => {},
  });
  return { publisher, messages, waits };
}

test("PublicationQueue repeats a message that was lost, before later ones", async () => {
  const { publisher, messages, waits } = listeners("lost", "lost");
  publisher.enqueue(removed("a"));
  await publisher.flushed();
  expect(messages).toEqual([["a"]]);
  // The write is answered; the repetition waits.
  waits.shift()!.resolve();
  await vi.waitFor(() => expect(messages).toEqual([["a"], ["a"]]));
  await vi.waitFor(() => expect(waits).toHaveLength(1));
  publisher.enqueue(removed("b"));
  await publisher.flushed();
  expect(messages).toEqual([["a"], ["a"], ["a", "b"]]);
  waits.shift()!.resolve();
  await publisher.flushed();
  expect(messages).toHaveLength(3);
});

test("PublicationQueue keeps only the last of many publications that were lost", async () => {
  const { publisher, messages } = listeners("lost");
  for (let index = 0; index < 1000; index++) publisher.enqueue(removed(String(index)));
  await publisher.flushed();
  publisher.enqueue(removed("last"));
  await publisher.flushed();
  // The listeners find the gap in the serials and fetch the zone.
  expect(messages[1]).toEqual(["999", "last"]);
});
