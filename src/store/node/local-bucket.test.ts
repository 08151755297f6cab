import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { ChannelRequest } from "../client/message.ts";
import { OperationQueue } from "./local-bucket.ts";

/** A queue whose owner answers when the test says so, and the sizes of the batches that the owner got. */
function openQueue() {
  const sizes: number[] = [];
  let answer = Promise.withResolvers<void>();
  const endpoint = {
    execute: async (_: string, { operations }: ChannelRequest) => {
      sizes.push(operations.length);
      await answer.promise;
      return operations.map(() => ({ ok: true, value: null }) as const);
    },
  };
  const run = (work: (owner: typeof endpoint) => Promise<unknown>) => work(endpoint);
  const queue = new OperationQueue({ run } as never, "photos");
  const add = (count: number) =>
    Array.from({ length: count }, () => queue.execute({ method: "head", key: "key" }));
  const answerAll = (): void => {
    answer.resolve();
    answer = Promise.withResolvers();
  };
  return { sizes, add, answerAll };
}

describe("OperationQueue", () => {
  it("sends the operation of a single client before the turn ends", async () => {
    const { sizes, add, answerAll } = openQueue();
    for (const count of [1, 2]) {
      const answered = add(1);
      expect(sizes).toHaveLength(count);
      answerAll();
      await Promise.all(answered);
    }
  });

  it("sends the operations of one turn together, while another request is on its way", async () => {
    const { sizes, add, answerAll } = openQueue();
    const answered = add(10);
    expect(sizes).toEqual([1]);
    await setImmediate();
    expect(sizes).toEqual([1, 9]);
    answerAll();
    await Promise.all(answered);
  });

  it("sends the operations of one turn together after operations that came together", async () => {
    const { sizes, add, answerAll } = openQueue();
    const first = add(3);
    await setImmediate();
    answerAll();
    await Promise.all(first);
    const second = add(3);
    expect(sizes).toEqual([1, 2]);
    await setImmediate();
    expect(sizes).toEqual([1, 2, 3]);
    answerAll();
    await Promise.all(second);
  });
});
