/** Reads of parts, on services that describe the object or the part. */
import { describe, expect, it } from "vitest";
import {
  simulatedAnswer,
  simulatedContext,
} from "../../../test/store/support/simulated-connection.ts";
import { getObject, parseContentRange, rangeHeader, type GetRequest } from "./remote-reads.ts";
import type { S3Answer, S3Message } from "./s3-transport.ts";

const etag = "0123456789abcdef0123456789abcdef-3";
const content = "aaaaabbbbbbbcc";
/** The uploader left out part 2. */
const parts: Readonly<Record<number, { offset: number; length: number }>> = {
  1: { offset: 0, length: 5 },
  3: { offset: 5, length: 7 },
  4: { offset: 12, length: 2 },
};

/** `range`: as AWS; `length`: as Ceph; `ignored`: a service that does not know part numbers. */
type Form = "range" | "length" | "ignored";

/** A service with one object. */
class PartsService {
  readonly sent: string[] = [];
  current = etag;
  /** Replaces the object after the first answer. */
  next: string | null = null;
  readonly #form: Form;

  constructor(form: Form) {
    this.#form = form;
  }

  reads() {
    const remote = simulatedContext((url, message) => this.#answer(url, message));
    return { get: (request: GetRequest) => getObject(remote, request) };
  }

  #answer(url: URL, { method, headers }: S3Message): S3Answer {
    this.sent.push(`${method} ${url.search}`);
    const match = headers["if-match"];
    if (match !== undefined && match !== `"${this.current}"`) return simulatedAnswer(412);
    const number = url.searchParams.get("partNumber");
    if (number !== null && this.#form !== "ignored") return this.#part(Number(number));
    const whole = { etag: `"${this.current}"` };
    this.current = this.next ?? this.current;
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers["range"] ?? "") ?? [];
    const text = first === undefined ? content : content.slice(Number(first), Number(last) + 1);
    return simulatedAnswer(first === undefined ? 200 : 206, {
      ...whole,
      "content-length": String(text.length),
      ...(first !== undefined && { "content-range": `bytes ${first}-${last}/${content.length}` }),
      ...(method === "GET" && { text }),
    });
  }

  #part(number: number): S3Answer {
    const part = parts[number];
    if (part === undefined) return simulatedAnswer(this.#form === "range" ? 416 : 400);
    const { offset, length } = part;
    const size = { "content-length": String(length) };
    if (this.#form === "length")
      return simulatedAnswer(200, { ...size, etag: `"part-of-${number}x"` });
    const range = `bytes ${offset}-${offset + length - 1}/${content.length}`;
    return simulatedAnswer(206, { ...size, etag: `"${etag}"`, "content-range": range });
  }
}

describe("getObject()", () => {
  it.each<Form>(["range", "length"])(
    "reads a part of a service that answers with a %s",
    async (form) => {
      const service = new PartsService(form);
      const reads = service.reads();
      for (const [number, range] of Object.entries(parts)) {
        const found = await reads.get({ key: "mp", partNumber: Number(number) });
        expect(found).toMatchObject({
          status: "found",
          object: { etag, size: content.length },
          range,
          partsCount: 3,
          content: new TextEncoder().encode(
            content.slice(range.offset, range.offset + range.length),
          ).buffer,
        });
      }
      for (const partNumber of [2, 5]) {
        await expect(reads.get({ key: "mp", partNumber })).rejects.toMatchObject({ code: 200001 });
      }
    },
  );

  it("asks once for the length of a part that is before others", async () => {
    const service = new PartsService("length");
    const reads = service.reads();
    await reads.get({ key: "mp", partNumber: 3 });
    service.sent.length = 0;
    await reads.get({ key: "mp", partNumber: 4 });
    await reads.get({ key: "mp", partNumber: 4 });
    const third = service.sent.filter((line) => line.includes("partNumber=3"));
    expect(third).toEqual(["HEAD ?partNumber=3"]);
    expect(service.sent.filter((line) => line.includes("partNumber=1"))).toEqual([]);
  });

  it("reads the part of an object that replaces another meanwhile", async () => {
    const service = new PartsService("length");
    service.current = etag.replace("0", "f");
    service.next = etag;
    const reads = service.reads();
    const found = await reads.get({ key: "mp", partNumber: 3 });
    expect(found).toMatchObject({ object: { etag }, range: parts[3] });
    expect(service.sent.slice(0, 3)).toEqual(["HEAD ", "HEAD ?partNumber=3", "HEAD "]);
  });

  it("refuses a part where the service ignores part numbers", async () => {
    const read = new PartsService("ignored").reads().get({ key: "mp", partNumber: 3 });
    await expect(read).rejects.toThrow("The S3 service cannot read one part of an object.");
  });

  it("takes an object that has no parts as its first part", async () => {
    const service = new PartsService("length");
    service.current = "0".repeat(32);
    const found = await service.reads().get({ key: "plain", partNumber: 1 });
    expect(found).toMatchObject({ range: { offset: 0, length: content.length } });
    expect(found).not.toHaveProperty("partsCount");
    const second = service.reads().get({ key: "plain", partNumber: 2 });
    await expect(second).rejects.toMatchObject({ code: 200001 });
  });
});

describe("rangeHeader()", () => {
  it.each([
    [undefined, ""],
    [{}, ""],
    [{ offset: 3 }, "bytes=3-"],
    [{ length: 3 }, "bytes=0-2"],
    [{ offset: 3, length: 2 }, "bytes=3-4"],
    [{ suffix: 4 }, "bytes=-4"],
    [{ offset: 1, length: Number.MAX_SAFE_INTEGER }, `bytes=1-${Number.MAX_SAFE_INTEGER}`],
    [{ header: "bytes=1-2" }, "bytes=1-2"],
    [{ header: "bytes=-2" }, "bytes=-2"],
    [{ header: "bytes=2-" }, "bytes=2-"],
  ])("writes %j", (range, header) => {
    expect(rangeHeader(range)).toBe(header);
  });

  it.each([
    { length: 0 },
    { suffix: 0 },
    { header: "bytes=-0" },
    { header: "bytes=3-2" },
    { header: "bytes=0-1,3-4" },
    { header: "bytes = 1-2" },
    { header: "items=1-2" },
    { header: `bytes=1-${"9".repeat(30)}` },
  ])("leaves %j to the size of the object", (range) => {
    expect(rangeHeader(range)).toBeNull();
  });
});

describe("parseContentRange()", () => {
  it("reads offset, length and size", () => {
    expect(parseContentRange("bytes 2-4/10")).toEqual({ offset: 2, length: 3, size: 10 });
    expect(parseContentRange("bytes */10")).toBeNull();
    expect(parseContentRange(null)).toBeNull();
  });
});
