import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeFrame, encodeFrame, readStreamFrame, streamFrame } from "./frame.ts";

async function roundTrip(value: unknown): Promise<unknown> {
  return decodeFrame(await encodeFrame(value).arrayBuffer());
}

describe("encodeFrame() and decodeFrame()", () => {
  it("round-trip any JSON with bytes in it", async () => {
    const bytes = fc.uint8Array({ maxLength: 20 });
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue({ depthSize: "small" }),
        bytes,
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie("tree"), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(tree, async (value) => {
        // JSON does not preserve -0.
        const expected = JSON.stringify(value) === undefined ? undefined : value;
        expect(normal(await roundTrip(expected))).toEqual(normal(expected));
      }),
    );
  });

  it("round-trip the bytes of a view, and not the rest of its buffer", async () => {
    const buffer = Uint8Array.of(1, 2, 3, 4, 5).buffer;
    const value = { view: new Uint8Array(buffer, 1, 2), buffer };
    expect(await roundTrip(value)).toEqual({
      view: Uint8Array.of(2, 3),
      buffer: Uint8Array.of(1, 2, 3, 4, 5),
    });
  });

  it("do not take metadata for bytes, whatever its name", async () => {
    const custom = { $bytes: "0,1" };
    expect(await roundTrip({ custom })).toEqual({ custom });
  });
});

/** A byte stream that delivers these chunks, and then ends or fails. */
function byteStream(chunks: Uint8Array<ArrayBuffer>[], failure?: Error): ReadableStream {
  // Copies: a byte stream detaches the chunks.
  const rest = chunks.map((chunk) => chunk.slice());
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const chunk = rest.shift();
      if (chunk !== undefined) return controller.enqueue(chunk);
      if (failure !== undefined) return controller.error(failure);
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

/** The same bytes, in chunks of `size`. */
function rechunk(stream: ReadableStream, size: number): ReadableStream {
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        for (let start = 0; start < chunk.length; start += size) {
          controller.enqueue(chunk.slice(start, start + size));
        }
      },
    }),
  );
}

function short(count: number): Error {
  return new Error(`${count} bytes`);
}

describe("streamFrame() and readStreamFrame()", () => {
  const value = { key: "grüße", size: 5 };
  const chunks = [Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5)];

  it.each([1, 3, 1000])("round-trip a value and a body in chunks of %i bytes", async (size) => {
    const frame = await readStreamFrame(rechunk(streamFrame(value, byteStream(chunks)), size));
    expect(frame.value).toEqual(value);
    const body = await new Response(frame.body(5, short)).bytes();
    expect([...body]).toEqual([1, 2, 3, 4, 5]);
  });

  it("round-trip a value without a body", async () => {
    expect((await readStreamFrame(streamFrame(null, null))).value).toBeNull();
  });

  it("end a body that fails, which the reader takes for a short body", async () => {
    const stream = streamFrame(value, byteStream(chunks.slice(0, 1), new Error("disk")));
    const frame = await readStreamFrame(stream);
    await expect(new Response(frame.body(5, short)).bytes()).rejects.toThrow("3 bytes");
  });

  it("reject a stream that ends before the value", async () => {
    const stream = byteStream([Uint8Array.of(0, 0, 0, 9, 123)]);
    await expect(readStreamFrame(stream)).rejects.toThrow("incomplete");
  });
});

function normal(value: unknown): unknown {
  if (Object.is(value, -0)) return 0;
  if (Array.isArray(value)) return value.map(normal);
  if (value === null || typeof value !== "object" || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, normal(item)]));
}
