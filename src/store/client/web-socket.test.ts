import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageHead, WebSocketReader } from "./web-socket.ts";

const upgrade = new TextEncoder().encode(
  "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
);

/** A message as the endpoint sends it: without a mask. */
function messageBytes(message: Uint8Array): Uint8Array {
  const head = messageHead(message.length).slice(0, -4);
  head[1] = (head[1] as number) & 0x7f;
  return Uint8Array.from([...head, ...message]);
}

function readAll(chunks: readonly Uint8Array[]): Uint8Array[] {
  const reader = new WebSocketReader();
  return chunks.flatMap((chunk) => reader.push(chunk));
}

describe("messageHead()", () => {
  it.each([
    [0, "8280"],
    [125, "82fd"],
    [126, "82fe007e"],
    [65_535, "82feffff"],
    [65_536, "82ff0000000000010000"],
    [5_000_000_000, "82ff000000012a05f200"],
  ])("has the length %d in its shortest form, and a mask of zeros", (length, hex) => {
    const bytes = Array.from(messageHead(length), (byte) => byte.toString(16).padStart(2, "0"));
    expect(bytes.join("")).toBe(`${hex}00000000`);
  });
});

describe("WebSocketReader", () => {
  const messages = [0, 1, 126].map((length) => new Uint8Array(length).fill(length));
  const bytes = Uint8Array.from([
    ...upgrade,
    ...messages.flatMap((each) => [...messageBytes(each)]),
  ]);

  it("reads messages, wherever their bytes are divided in two", () => {
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(readAll([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(messages);
    }
  });

  it("reads messages, however their bytes are divided", () => {
    const cuts = fc.array(fc.nat(bytes.length), { maxLength: 20 });
    fc.assert(
      fc.property(cuts, (places) => {
        const ends = [...places.toSorted((one, other) => one - other), bytes.length];
        const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        expect(readAll(chunks)).toEqual(messages);
      }),
    );
    expect(readAll(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(messages);
  });

  it("reads a message with a length of 8 bytes", () => {
    const message = new Uint8Array(70_000).fill(7);
    expect(readAll([upgrade, messageBytes(message)])).toEqual([message]);
  });

  it("is open when the response to the upgrade is complete", () => {
    const reader = new WebSocketReader();
    reader.push(upgrade.subarray(0, -1));
    expect(reader.isOpen).toBe(false);
    reader.push(upgrade.subarray(-1));
    expect(reader.isOpen).toBe(true);
  });

  it.each<[name: string, frame: number[], message: RegExp]>([
    ["the end of the connection", [0x88, 2, 3, 0xe8], /closed the connection/],
    ["a frame of another kind", [0x89, 0], /another kind than expected: 137/],
    ["a message in several frames", [0x02, 1, 1], /another kind/],
    ["a mask", [0x82, 0x81, 0, 0, 0, 0, 1], /with a mask/],
  ])("throws for %s", (_, frame, message) => {
    expect(() => readAll([upgrade, Uint8Array.from(frame)])).toThrow(message);
  });

  it("throws when the endpoint refuses the upgrade", () => {
    const refusal = new TextEncoder().encode(
      "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno.",
    );
    expect(() => readAll([refusal])).toThrow("refused the upgrade: HTTP/1.1 404 Not Found");
  });
});
