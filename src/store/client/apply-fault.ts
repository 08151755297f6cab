/** What a test has asked to happen to the answers of a bucket, and to the bodies in them. */
import type { AnswerFault } from "../core/operations.ts";

/** Goes through what is to happen before the answer is there. */
export async function applyFault({ delayMilliseconds, lost, late }: AnswerFault): Promise<void> {
  // The test in which the call was made has ended; its code must not go on in the next one. A
  // promise that nothing can ever settle would have the runtime complain of code that hangs.
  if (late) for (;;) await new Promise((resolve) => setTimeout(resolve, timeoutMax));
  if (delayMilliseconds !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, delayMilliseconds));
  }
  if (lost === "answer") throw connectionLost();
}

/** Of a timer, in milliseconds: 24 days. */
const timeoutMax = 2 ** 31 - 1;

/** A body that breaks off. It still knows the length that it should have had. */
export function breakContent(
  content: ReadableStream | ArrayBuffer,
  length: number,
  { lost }: AnswerFault,
): ReadableStream | ArrayBuffer {
  if (lost === undefined || lost === "answer") return content;
  const asked = lost.afterBytes < 0 ? Math.floor(length / 2) : lost.afterBytes;
  const { readable, writable } = new FixedLengthStream(length);
  void breakOff(content, writable, Math.min(asked, Math.max(0, length - 1)));
  return readable;
}

async function breakOff(
  content: ReadableStream | ArrayBuffer,
  writable: WritableStream<Uint8Array>,
  bytes: number,
): Promise<void> {
  const writer = writable.getWriter();
  try {
    let left = bytes;
    for await (const chunk of chunksOf(content)) {
      if (left === 0) break;
      const part = chunk.subarray(0, left);
      await writer.write(part);
      left -= part.length;
    }
    await writer.abort(connectionLost());
  } catch {
    // Whoever was reading has stopped.
  }
}

async function* chunksOf(content: ReadableStream | ArrayBuffer): AsyncGenerator<Uint8Array> {
  if (content instanceof ArrayBuffer) yield new Uint8Array(content);
  else yield* content as AsyncIterable<Uint8Array>;
}

/** As the platform words it. */
function connectionLost(): Error {
  return Object.assign(new Error("Network connection lost."), { retryable: true });
}
