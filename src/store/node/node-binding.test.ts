import { describe, expect, it, vi } from "vitest";
import { pulledContents, type PieceCalls } from "./node-binding.ts";

const mebibyte = 1024 * 1024;

/** A runtime with one content of `available` bytes, which records the calls. */
class FakeRuntime implements PieceCalls {
  readonly asked: number[] = [];
  readonly closed: number[] = [];
  #sent = 0;
  readonly #available: number;

  constructor(available: number) {
    this.#available = available;
  }

  read(_: number, length: number): Promise<ReadableStream<Uint8Array>> {
    this.asked.push(length);
    const bytes = new Uint8Array(Math.min(length, this.#available - this.#sent));
    for (let index = 0; index < bytes.length; index++) bytes[index] = this.#sent + index;
    this.#sent += bytes.length;
    return Promise.resolve(new Blob([bytes]).stream());
  }

  close(ids: readonly number[]): void {
    this.closed.push(...ids);
  }
}

function onShort(count: number): Error {
  return new Error(`${count} bytes`);
}

function open(available: number, length = available) {
  const runtime = new FakeRuntime(available);
  return { runtime, stream: pulledContents(runtime)({ id: 7, length, onShort }) };
}

describe("pulledContents()", () => {
  it("asks for nothing before the first read", async () => {
    const { runtime, stream } = open(10 * mebibyte);
    const response = new Response(stream as BodyInit);
    await new Promise((resolve) => setImmediate(resolve));
    expect(runtime.asked).toEqual([]);
    expect((await response.arrayBuffer()).byteLength).toBe(10 * mebibyte);
  });

  it.each([1, mebibyte, mebibyte + 1, 11 * mebibyte + 3])(
    "delivers %i bytes, and closes the content",
    async (length) => {
      const { runtime, stream } = open(length);
      const bytes = await new Response(stream as BodyInit).bytes();
      expect(bytes.length).toBe(length);
      expect(bytes.every((byte, index) => byte === index % 256)).toBe(true);
      await vi.waitFor(() => expect(runtime.closed).toEqual([7]), 30_000);
    },
  );

  it("asks for at most one piece more than the program reads", async () => {
    const { runtime, stream } = open(100 * mebibyte);
    const reader = stream.getReader();
    await reader.read();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(runtime.asked.length).toBeLessThanOrEqual(2);
    await reader.cancel();
    await vi.waitFor(() => expect(runtime.closed).toEqual([7]), 30_000);
  });

  it("fails when the content ends early, after the bytes that have arrived", async () => {
    const { runtime, stream } = open(2 * mebibyte, 3 * mebibyte);
    let count = 0;
    const read = async (): Promise<void> => {
      for await (const chunk of stream) count += chunk.length;
    };
    await expect(read()).rejects.toThrow(`${2 * mebibyte} bytes`);
    expect(count).toBe(2 * mebibyte);
    await vi.waitFor(() => expect(runtime.closed).toEqual([7]), 30_000);
  });

  it("passes on the error of a call", async () => {
    const calls: PieceCalls = { read: () => Promise.reject(new Error("gone")), close: () => {} };
    const stream = pulledContents(calls)({ id: 1, length: 5, onShort });
    await expect(stream.getReader().read()).rejects.toThrow("gone");
  });
});
