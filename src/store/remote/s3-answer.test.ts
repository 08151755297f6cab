/** Bodies of transports that do not check the length themselves. */
import { describe, expect, it } from "vitest";
import { discardBody, guardedBody, readStart } from "./s3-answer.ts";
import type { S3Answer } from "./s3-transport.ts";

/** A stream of `text`, in chunks of three bytes that share their memory. */
function answerOf(text: string, length: number | null, onCancel = (): void => {}): S3Answer {
  const bytes = new TextEncoder().encode(text);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent >= bytes.length) controller.close();
      else controller.enqueue(bytes.subarray(sent, (sent += 3)));
    },
    cancel: onCancel,
  });
  const headers = new Headers(length === null ? {} : { "content-length": String(length) });
  return { status: 200, headers, body };
}

function guarded(answer: S3Answer): { text: Promise<string>; ends: () => number } {
  let ends = 0;
  const body = guardedBody(answer, {
    idleMilliseconds: 60_000,
    failure: (reason) => new Error(reason),
    end: () => ends++,
  });
  return { text: new Response(body).text(), ends: () => ends };
}

describe("guardedBody()", () => {
  it.each([
    ["0123456789", 10],
    ["0123456789", null],
    ["", 0],
  ])("returns '%s' of length %s", async (text, length) => {
    const { text: read, ends } = guarded(answerOf(text, length));
    expect(await read).toBe(text);
    expect(ends()).toBe(0);
  });

  it.each([
    ["0123", 10, "the content ended after 4 of 10 bytes"],
    ["", 1, "the content ended after 0 of 1 bytes"],
    ["0123456789", 8, "the content has more than 8 bytes"],
    ["0123456789", 9, "the content has more than 9 bytes"],
  ])("fails for '%s' of length %i, and ends the request", async (text, length, message) => {
    const { text: read, ends } = guarded(answerOf(text, length));
    await expect(read).rejects.toThrow(message);
    expect(ends()).toBe(1);
  });
});

describe("discardBody()", () => {
  it.each([
    ["reads a short body", 6, false],
    ["cancels a long body", 100_000, true],
    ["cancels a body of unknown length", null, true],
  ])("%s", async (_, length, expected) => {
    let isCancelled = false;
    await discardBody(answerOf("012345", length, () => void (isCancelled = true)));
    expect(isCancelled).toBe(expected);
  });
});

describe("readStart()", () => {
  it("reads no more than it was asked for, and cancels the rest", async () => {
    let isCancelled = false;
    const { body } = answerOf("0123456789", null, () => void (isCancelled = true));
    expect(await readStart(body, 4)).toBe("012345");
    expect(isCancelled).toBe(true);
  });
});
