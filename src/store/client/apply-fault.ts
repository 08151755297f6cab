/** Applies the faults that a test injects to the answers of a bucket, and to the bodies in them. */
import type { AnswerFault } from "../transport/message.ts";
import { connectionLost, delay, neverContinue } from "./fault-effects.ts";

/** Applies the part of a fault that happens before the answer arrives. */
export async function applyFault({ delayMilliseconds, lost, late }: AnswerFault): Promise<void> {
  if (late) await neverContinue();
  if (delayMilliseconds !== undefined) await delay(delayMilliseconds);
  if (lost === "answer") throw connectionLost();
}

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
