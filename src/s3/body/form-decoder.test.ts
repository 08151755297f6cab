import { buffer } from "node:stream/consumers";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorOf } from "../../../test/support/error-of.ts";
import { S3Error } from "../s3-error.ts";
import { FormDecoder, type FormPiece } from "./form-decoder.ts";
import { readForm } from "./form-reader.ts";

const contentType = 'multipart/form-data; charset=utf-8; boundary="--x y"';

/** A form as a browser writes it. */
function encode(fields: readonly (readonly [string, string])[], file: string | null): Buffer {
  const parts = fields.map(
    ([name, value]) =>
      `----x y\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const last =
    '----x y \t\r\nContent-Disposition: form-data; name="FILE"; filename="C:\\é%22.png"\r\n' +
    `Content-Type: image/png\r\n\r\n${file}\r\n`;
  return Buffer.from(`${parts.join("")}${file === null ? "" : last}----x y--\r\n`);
}

function decode(body: Buffer, cuts: readonly number[] = []): FormPiece[] {
  const decoder = new FormDecoder(contentType);
  const ends = [...cuts.toSorted((left, right) => left - right), body.length];
  return ends.flatMap((end, index) => decoder.push(body.subarray(ends[index - 1] ?? 0, end)));
}

/** The pieces, with their content joined. */
function summary(pieces: readonly FormPiece[]): unknown[] {
  const bytes = pieces.flatMap((piece) => (piece.kind === "content" ? [piece.bytes] : []));
  const others = pieces.filter(({ kind }) => kind !== "content");
  return [...others, Buffer.concat(bytes).toString()];
}

const fields = [
  ["key", "a/${filename}"],
  ["Empty", ""],
  ["policy", "line\r\n--x\r\n"],
] as const;
const file = "first\r\n----x\r\n----x  y\r\nlast\r\n";
const decoded = [
  { kind: "field", name: "key", value: "a/${filename}" },
  { kind: "field", name: "Empty", value: "" },
  { kind: "field", name: "policy", value: "line\r\n--x\r\n" },
  { kind: "file", fileName: 'C:\\é".png' },
  { kind: "end" },
];

describe("FormDecoder", () => {
  it("decodes fields and a file that contains parts of the boundary", () => {
    expect(summary(decode(encode(fields, file)))).toEqual([...decoded, file]);
    expect(summary(decode(encode([], "")))).toEqual([...decoded.slice(3), ""]);
  });

  it("decodes a form that arrives in any pieces", () => {
    const body = encode(fields, file);
    fc.assert(
      fc.property(fc.array(fc.nat(body.length), { maxLength: 20 }), (cuts) => {
        expect(summary(decode(body, cuts))).toEqual([...decoded, file]);
      }),
    );
    const each = Array.from(body, (_, index) => index);
    expect(summary(decode(body, each))).toEqual([...decoded, file]);
  });

  it("passes content on while it arrives", () => {
    const start = encode(fields, "x".repeat(100_000)).subarray(0, 50_000);
    const bytes = decode(start).flatMap((piece) => (piece.kind === "content" ? [piece.bytes] : []));
    expect(Buffer.concat(bytes).length).toBeGreaterThan(49_000);
  });

  it.each([
    ["a form without a file", encode(fields, null), "IncorrectNumberOfFilesInPostRequest"],
    ["fields that are too long", encode([["key", "x".repeat(20_481)]], ""), "MaxPostPreData"],
    ["a part without a name", Buffer.from("----x y\r\n\r\n\r\nx"), "MalformedPOSTRequest"],
    ["text after a boundary", Buffer.from("----x yz\r\n"), "MalformedPOSTRequest"],
  ])("refuses %s", (_, body, code) => {
    expect(() => decode(body)).toThrow(
      expect.objectContaining({ code: expect.stringContaining(code) }),
    );
  });

  it("refuses a header without a boundary", () => {
    expect(() => new FormDecoder("multipart/form-data")).toThrow(S3Error);
    expect(() => new FormDecoder(`multipart/form-data; boundary=${"x".repeat(71)}`)).toThrow(
      S3Error,
    );
  });

  it("throws nothing but errors of S3", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const start = encode([], "x").subarray(0, bytes.length);
        expect(errorOf(() => decode(Buffer.concat([start, bytes])))).toSatisfy(
          (error) => error === null || error instanceof S3Error,
        );
      }),
    );
  });
});

async function* piecesOf(body: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

describe("readForm()", () => {
  it("returns the fields, by the first of equal names, before the content", async () => {
    const body = encode([...fields, ["KEY", "other"]], file);
    const form = await readForm(piecesOf(body, 7), contentType);
    expect(form.fields.get("key")).toBe("a/${filename}");
    expect((await buffer(form.content())).toString()).toBe(file);
  });

  it("refuses content that has no end", async () => {
    const body = encode(fields, file).subarray(0, -14);
    const form = await readForm(piecesOf(body, 1000), contentType);
    await expect(buffer(form.content())).rejects.toThrow("not well-formed");
    await expect(readForm(piecesOf(body.subarray(0, 50), 9), contentType)).rejects.toThrow(S3Error);
  });

  it("closes the source after an error", async () => {
    let isClosed = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(30_000);
      } finally {
        isClosed = true;
      }
    }
    await expect(readForm(source(), contentType)).rejects.toThrow("too large");
    expect(isClosed).toBe(true);
  });
});
