/** Applies the faults that a test injects to the answers of a bucket, and to the bodies in them. */
import type { AnswerFault } from "../transport/message.ts";

/** Applies the part of a fault that happens before the answer arrives. */
export async function applyFault({ delayMilliseconds, lost, late }: AnswerFault): Promise<void> {
  // The test that made the call has ended, and its code must not continue during the next test.
  // The runtime reports a promise that nothing can settle as code that hangs, so a timer waits.
  if (late) for (;;) await delay(timeoutMillisecondsMax);
  if (delayMilliseconds !== undefined) await delay(delayMilliseconds);
  if (lost === "answer") throw connectionLost();
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** The longest delay of `setTimeout`: 24 days. */
const timeoutMillisecondsMax = 2 ** 31 - 1;

/** A body that fails before its end, and still has the length of the whole body. */
export function breakContent(
  content: ReadableStream,
  length: number,
  { lost }: AnswerFault,
): ReadableStream {
  if (lost === undefined || lost === "answer") return content;
  const wanted = lost.afterBytes < 0 ? Math.floor(length / 2) : lost.afterBytes;
  const { readable, writable } = new FixedLengthStream(length);
  void copyAndAbort(content, writable, Math.min(wanted, Math.max(0, length - 1)));
  return readable;
}

async function copyAndAbort(
  content: ReadableStream<Uint8Array>,
  writable: WritableStream<Uint8Array>,
  bytes: number,
): Promise<void> {
  const writer = writable.getWriter();
  try {
    let remaining = bytes;
    for await (const chunk of content) {
      if (remaining === 0) break;
      const part = chunk.subarray(0, remaining);
      await writer.write(part);
      remaining -= part.length;
    }
    await writer.abort(connectionLost());
  } catch {
    // The reader has cancelled the stream.
  }
}

/** The error of the platform, with its text. */
function connectionLost(): Error {
  return Object.assign(new Error("Network connection lost."), { retryable: true });
}
