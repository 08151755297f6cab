/**
 * Lines as a stream of bytes: RPC passes byte streams only. All lines are made now, because the zone
 * may change while the stream is read. As bytes they take a fraction of the memory of the records.
 */
export function streamLines(lines: Iterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const pieces = Array.from(lines, (line) => encoder.encode(line)).values();
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const { value, done } = pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}
