import { describe, expect, it } from "vitest";
import { inlineBytesMax } from "../core/limits.ts";
import type { Operation, Outcome, Request } from "../core/operations.ts";
import { Batch } from "./batch.ts";

/** A bucket that answers when it is told to. */
class Bucket {
  readonly batches: Operation[][] = [];
  readonly batch = new Batch({
    send: (operations) => {
      this.batches.push(operations);
      return this.answer(operations);
    },
    sendAlone: (operation, resolve, reject) => {
      this.batches.push([operation]);
      this.answer([operation]).then(([outcome]) => resolve(outcome as Outcome), reject);
    },
  });

  answer: (operations: Operation[]) => Promise<Outcome[]> = async (operations) =>
    operations.map(succeed);

  get sizes(): number[] {
    return this.batches.map((operations) => operations.length);
  }
}

/** Its key tells whose answer it is. */
function succeed(operation: Operation): Outcome {
  return { ok: true, value: { uploadId: "key" in operation ? operation.key : "" } };
}

/** What a caller hears of a batch that was lost. */
function internal(cause: Error): Error {
  const message = "head: We encountered an internal error. Please try again. (10001)";
  return new Error(message, { cause });
}

function asItIs<Value>(value: Value): Value {
  return value;
}

function head(key: string): Request<"head"> {
  return { method: "head", key };
}

const description = { key: "k", http: {}, custom: {}, storageClass: "Standard" } as const;
const upload = { key: "k", uploadId: "u" };
const small = { bytes: new Uint8Array(1), checksums: {} };
const inline = { bytes: new Uint8Array(inlineBytesMax), checksums: {} };
const blob = { blob: "b", size: 5_000_000_000, checksums: {} };

describe("Batch.call()", () => {
  it("sends the calls of one turn together, in their order", async () => {
    const bucket = new Bucket();
    const answers = await Promise.all(
      ["a", "b", "c"].map((key) => bucket.batch.call(head(key), asItIs)),
    );
    expect(bucket.batches).toStrictEqual([[head("a"), head("b"), head("c")]]);
    expect(answers).toStrictEqual([head("a"), head("b"), head("c")].map(succeed));
  });

  it("sends nothing before the turn has ended, and waits for nothing after it", async () => {
    const bucket = new Bucket();
    const answer = bucket.batch.call(head("a"), asItIs);
    expect(bucket.sizes).toStrictEqual([]);
    await Promise.resolve();
    expect(bucket.sizes).toStrictEqual([1]);
    await answer;
  });

  it("sends calls of different turns apart, without waiting for answers", async () => {
    const bucket = new Bucket();
    const answers = Promise.withResolvers<Outcome[]>();
    bucket.answer = () => answers.promise;
    const calls = [bucket.batch.call(head("a"), asItIs)];
    await Promise.resolve();
    calls.push(bucket.batch.call(head("b"), asItIs));
    await Promise.resolve();
    expect(bucket.batches).toStrictEqual([[head("a")], [head("b")]]);
    answers.resolve([succeed(head("x"))]);
    await Promise.all(calls);
  });

  it("lets each call fail alone", async () => {
    const bucket = new Bucket();
    const failure = { ok: false, code: 10020, text: "No." } as const;
    bucket.answer = async ([first, , third]) => [
      succeed(first as Operation),
      failure,
      succeed(third as Operation),
    ];
    const answers = await Promise.all(
      ["a", "", "c"].map((key) => bucket.batch.call(head(key), asItIs)),
    );
    expect(answers).toStrictEqual([succeed(head("a")), failure, succeed(head("c"))]);
  });

  it("rejects a call of whose answer nothing can be made, and no other", async () => {
    const bucket = new Bucket();
    const odd = new Error("Cannot read the answer.");
    const read = (outcome: Outcome): Outcome => {
      if (outcome.ok && (outcome.value as { uploadId: string }).uploadId === "b") throw odd;
      return outcome;
    };
    const keys = ["a", "b", "c"];
    const calls = await Promise.allSettled(keys.map((key) => bucket.batch.call(head(key), read)));
    expect(calls).toStrictEqual([
      { status: "fulfilled", value: succeed(head("a")) },
      { status: "rejected", reason: odd },
      { status: "fulfilled", value: succeed(head("c")) },
    ]);
    await expect(bucket.batch.call(head("b"), read)).rejects.toBe(odd);
  });

  it("rejects all calls of a batch that could not be sent, and none of the next", async () => {
    const bucket = new Bucket();
    const lost = new Error("Network connection lost.");
    bucket.answer = async () => {
      throw lost;
    };
    const calls = await Promise.allSettled(
      [head("a"), head("b")].map((call) => bucket.batch.call(call, asItIs)),
    );
    expect(calls).toStrictEqual([
      { status: "rejected", reason: internal(lost) },
      { status: "rejected", reason: internal(lost) },
    ]);
    bucket.answer = async (operations) => operations.map(succeed);
    await expect(bucket.batch.call(head("c"), asItIs)).resolves.toStrictEqual(succeed(head("c")));
  });

  it("sends a batch that is full at once, and answers each call of both", async () => {
    const bucket = new Bucket();
    const keys = Array.from({ length: 130 }, (_, index) => `${index}`);
    const calls = keys.map((key) => bucket.batch.call({ method: "get", key }, asItIs));
    expect(bucket.sizes).toStrictEqual([112]);
    const answers = await Promise.all(calls);
    expect(bucket.sizes).toStrictEqual([112, 18]);
    expect(
      bucket.batches.flat().map((operation) => "key" in operation && operation.key),
    ).toStrictEqual(keys);
    expect(answers).toStrictEqual(keys.map((key) => succeed(head(key))));
  });

  it.each([1, 2])("rejects %i calls when sending throws on the spot", async (count) => {
    const lost = new Error("Disallowed operation called within global scope.");
    const refuse = (): never => {
      throw lost;
    };
    const batch = new Batch({ send: refuse, sendAlone: refuse });
    const calls = Array.from({ length: count }, () => batch.call(head("a"), asItIs));
    for (const call of calls) await expect(call).rejects.toStrictEqual(internal(lost));
  });

  // What one operation carries at most, by the limits of the service: see `limits.ts`.
  const record = 1024 + 8192;
  const page = 1000 * 1024;
  const list = { prefix: "", delimiter: "", includeHttp: false, includeCustom: false };
  it.each<[string, number, Operation]>([
    [
      "puts of 128 KiB",
      record + inlineBytesMax,
      { method: "put", content: inline, ...description },
    ],
    ["puts of a byte", record, { method: "put", content: small, ...description }],
    ["puts of files", record, { method: "put", content: blob, ...description }],
    ["parts", inlineBytesMax, { method: "uploadPart", content: inline, partNumber: 1, ...upload }],
    ["gets", record + inlineBytesMax, { method: "get", key: "k" }],
    ["heads", record, { method: "head", key: "k" }],
    ["deletes", page, { method: "delete", keys: Array.from({ length: 1000 }, () => "k") }],
    ["lists", page, { method: "list", limit: 1000, ...list }],
    ["lists of one", 256 * 1024, { method: "list", limit: 1, ...list }],
    ["creations of uploads", record, { method: "createUpload", ...description }],
    [
      "completions of uploads",
      10_000 * 64,
      {
        method: "completeUpload",
        parts: Array.from({ length: 10_000 }, () => ({ partNumber: 1, etag: "e" })),
        ...upload,
      },
    ],
    ["lists of uploads", page, { method: "listUploads", prefix: "", limit: 1000 }],
    [
      "lists of parts",
      1000 * 64,
      { method: "listParts", afterPartNumber: 0, limit: 1000, ...upload },
    ],
  ])("sends no more %s at a time than an RPC can carry", async (_, bytes, operation) => {
    const bucket = new Bucket();
    await callTimes(bucket, Math.ceil((64 * 1024 * 1024) / bytes), operation);
    expect(bucket.sizes.length).toBeGreaterThan(1);
    expect(Math.max(...bucket.sizes) * bytes).toBeLessThanOrEqual(32 * 1024 * 1024);
  });

  it.each<[string, Operation]>([
    ["puts of a byte", { method: "put", content: small, ...description }],
    ["heads", { method: "head", key: "k" }],
    ["gets", { method: "get", key: "k" }],
    ["aborts of uploads", { method: "abortUpload", ...upload }],
    ["counts", { method: "stats" }],
  ])("sends 100 %s together", async (_, operation) => {
    const bucket = new Bucket();
    await callTimes(bucket, 100, operation);
    expect(bucket.sizes).toStrictEqual([100]);
  });
});

async function callTimes(bucket: Bucket, count: number, operation: Operation): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => bucket.batch.call(operation, asItIs)));
}
