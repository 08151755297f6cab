/** An answer from workerd with its body behind it (`store/binding/remote.ts` writes it). */

interface FramedAnswer<Head> {
  readonly head: Head;
  /**
   * The body.
   *
   * @param key the object it belongs to, for the error when it ends before `length`
   */
  body(key: string, length: number): ReadableStream<Uint8Array>;
}

export async function readFramedAnswer<Head>(stream: ReadableStream): Promise<FramedAnswer<Head>> {
  const reader = (stream as ReadableStream<Uint8Array>).getReader();
  let received = Buffer.alloc(0);
  const receive = async (bytes: number): Promise<void> => {
    while (received.length < bytes) {
      const { done, value } = await reader.read();
      if (done) throw new Error("The answer of the bucket is not whole");
      received = Buffer.concat([received, value]);
    }
  };
  await receive(4);
  const headEnd = 4 + received.readUInt32BE();
  await receive(headEnd);
  const head = JSON.parse(received.toString("utf8", 4, headEnd)) as Head;

  return {
    head,
    body(key, length) {
      let count = 0;
      let first: Uint8Array | undefined = Uint8Array.from(received.subarray(headEnd));
      return new ReadableStream<Uint8Array>({
        async pull(controller) {
          const value = first?.length ? first : (await reader.read()).value;
          first = undefined;
          if (value === undefined && count < length) throw brokenOff(key, count, length);
          if (value === undefined) return controller.close();
          count += value.length;
          controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      });
    },
  };
}

function brokenOff(key: string, count: number, length: number): Error {
  return new Error(
    `get: Cannot read the content of "${key}": it broke off after ${count} of ${length} bytes. ` +
      "The object is damaged; put it again or delete it. (10001)",
  );
}
