import { expect, it } from "vitest";
import { readText } from "./s3-answer.ts";

it("readText() reads no more than it was asked for, and cancels the rest", async () => {
  const bytes = new TextEncoder().encode("0123456789");
  let sent = 0;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent >= bytes.length) controller.close();
      else controller.enqueue(bytes.subarray(sent, (sent += 3)));
    },
    cancel: () => void (isCancelled = true),
  });
  expect(await readText({ body }, 4)).toBe("012345");
  expect(isCancelled).toBe(true);
});
