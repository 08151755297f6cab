import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ResponseReader, type ReceivedResponse } from "./response-reader.ts";

function responseBytes(status: number, body: Uint8Array, headers = ""): Uint8Array {
  const head = `HTTP/1.1 ${status} Text\r\nContent-Type: x/y\r\n${headers}Content-Length: ${body.length}\r\n\r\n`;
  return Uint8Array.from([...bytesOf(head), ...body]);
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function readAll(chunks: readonly Uint8Array[]): (ReceivedResponse | null)[] {
  const reader = new ResponseReader();
  return chunks.map((chunk) => reader.push(chunk));
}

describe("ResponseReader", () => {
  it("reads a response, however its bytes are divided", () => {
    const cuts = fc.array(fc.nat(400), { maxLength: 6 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), cuts, (body, places) => {
        const bytes = responseBytes(200, body);
        const sorted = [0, ...places.toSorted((one, other) => one - other), bytes.length];
        const chunks = sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
        const complete = readAll(chunks).find((response) => response !== null);
        expect(complete).toEqual({ status: 200, body: new Uint8Array(body) });
      }),
    );
  });

  it("is not deceived by a body that looks like the end of a head", () => {
    const body = bytesOf("\r\n\r\nContent-Length: 3\r\n\r\n");
    const bytes = responseBytes(422, body);
    const chunks = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(readAll(chunks).at(-1)).toEqual({ status: 422, body });
  });

  it.each([
    ["another protocol", "SSH-2.0-OpenSSH\r\n\r\n", /another response than expected: SSH/],
    ["no length", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", /another response/],
    ["more bytes than its length", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", /longer/],
    ["a head without an end", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(20_000)}`, /does not end/],
  ])("refuses %s", (_, text, message) => {
    expect(() => readAll([bytesOf(text)])).toThrow(message);
  });
});
