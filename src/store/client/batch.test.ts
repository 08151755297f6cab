import { describe, expect, it } from "vitest";
import type { Method } from "../core/errors.ts";
import { inlineBytesMax } from "../core/limits.ts";
import { type Operation, type Outcome, type Request, refusedOutcome } from "../core/operations.ts";
import { Batch, answerFailedBatch } from "./batch.ts";
import type { DiskProblem } from "../../state/disk-problem.ts";

/** A bucket that records batches, and answers as the test defines. */
class Bucket {
  readonly batches: Operation[][] = [];
  readonly batch = new Batch({
    send: (messages) => {
      this.batches.push(messages);
      return this.answer(messages);
    },
    sendOne: (message, resolve, reject) => {
      this.batches.push([message]);
      this.answer([message]).then(([answer]) => resolve(answer as Outcome), reject);
    },
  });

  answer: (messages: Operation[]) => Promise<Outcome[]> = async (messages) => messages.map(succeed);

  get sizes(): number[] {
    return this.batches.map((messages) => messages.length);
  }
}

/** The answer contains the key of the operation. */
function succeed(message: Operation): Outcome {
  const operation = message;
  return { ok: true, value: { uploadId: "key" in operation ? operation.key : "" } };
}

/** The error of a call in a batch that was lost. */
function internal(cause: Error): Error {
  const message = "head: We encountered an internal error. Please try again. (10001)";
  return new Error(message, { cause });
}

function identity<Value>(value: Value): Value {
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
      ["a", "b", "c"].map((key) => bucket.batch.call(head(key), identity)),
    );
    expect(bucket.batches).toStrictEqual([[head("a"), head("b"), head("c")]]);
    expect(answers).toStrictEqual([head("a"), head("b"), head("c")].map(succeed));
  });

  it("sends at the end of the turn, and not before", async () => {
    const bucket = new Bucket();
    const answer = bucket.batch.call(head("a"), identity);
    expect(bucket.sizes).toStrictEqual([]);
    await Promise.resolve();
    expect(bucket.sizes).toStrictEqual([1]);
    await answer;
  });

  it("gives the operation the layer of its call, and leaves an operation without a layer as it is", async () => {
    const bucket = new Bucket();
    await Promise.all([
      bucket.batch.call(head("a"), identity, 3),
      bucket.batch.call(head("b"), identity),
    ]);
    expect(bucket.batches).toStrictEqual([[{ ...head("a"), layer: 3 }, head("b")]]);
  });

  it("sends the calls of different turns separately, without waiting for answers", async () => {
    const bucket = new Bucket();
    const answers = Promise.withResolvers<Outcome[]>();
    bucket.answer = () => answers.promise;
    const calls = [bucket.batch.call(head("a"), identity)];
    await Promise.resolve();
    calls.push(bucket.batch.call(head("b"), identity));
    await Promise.resolve();
    expect(bucket.batches).toStrictEqual([[head("a")], [head("b")]]);
    answers.resolve([succeed(head("x"))]);
    await Promise.all(calls);
  });

  it("loses no call that is made between the microtasks of others, and keeps their order", async () => {
    const bucket = new Bucket();
    const made: string[] = [];
    const request = async (name: string, pauses: readonly number[]): Promise<string[]> => {
      const answers: Promise<Outcome>[] = [];
      for (const [index, pause] of pauses.entries()) {
        for (let task = 0; task < pause; task++) await Promise.resolve();
        made.push(`${name}${index}`);
        answers.push(bucket.batch.call(head(`${name}${index}`), identity));
      }
      return (await Promise.all(answers)).map((answer) =>
        answer.ok ? (answer.value as { uploadId: string }).uploadId : answer.text,
      );
    };
    const pauses = [0, 1, 0, 0, 2, 1, 3, 0, 1, 1, 5, 0];
    const names = ["a", "b", "c", "d"];
    const answers = await Promise.all(
      names.map((name, shift) => request(name, [...pauses.slice(shift), ...pauses])),
    );
    const sent = bucket.batches.flat().map((message) => "key" in message && message.key);
    expect(sent).toStrictEqual(made);
    expect(answers.flat().toSorted()).toStrictEqual(made.toSorted());
  });

  it("drops the calls of aborted turns, whose microtasks never run, and sends those of the next turn", async () => {
    const bucket = new Bucket();
    for (let turn = 0; turn < 2; turn++) {
      abortTurn(() => {
        void bucket.batch.call(head("dropped"), identity);
        void bucket.batch.call({ method: "put", content: blob, ...description }, identity);
      });
      await Promise.resolve();
    }
    expect(bucket.batches).toStrictEqual([]);
    const keys = ["a", "b"];
    const calls = keys.map((key) => bucket.batch.call(head(key), identity));
    expect(await Promise.all(calls)).toStrictEqual(keys.map((key) => succeed(head(key))));
    expect(bucket.batches).toStrictEqual([keys.map(head)]);
    await bucket.batch.call(head("c"), identity);
    expect(bucket.sizes).toStrictEqual([2, 1]);
  });

  it("fails one call without the others", async () => {
    const bucket = new Bucket();
    const failure = { ok: false, code: 10020, text: "No." } as const;
    bucket.answer = async ([first, , third]) => [
      succeed(first as Operation),
      failure,
      succeed(third as Operation),
    ];
    const answers = await Promise.all(
      ["a", "", "c"].map((key) => bucket.batch.call(head(key), identity)),
    );
    expect(answers).toStrictEqual([succeed(head("a")), failure, succeed(head("c"))]);
  });

  it("rejects only the call whose answer cannot be converted", async () => {
    const bucket = new Bucket();
    const unreadable = new Error("Cannot read the answer.");
    const read = (answer: Outcome): Outcome => {
      const outcome = answer as Extract<Outcome, { ok: true }>;
      if ((outcome.value as { uploadId: string }).uploadId === "b") throw unreadable;
      return answer;
    };
    const keys = ["a", "b", "c"];
    const calls = await Promise.allSettled(keys.map((key) => bucket.batch.call(head(key), read)));
    expect(calls).toStrictEqual([
      { status: "fulfilled", value: succeed(head("a")) },
      { status: "rejected", reason: unreadable },
      { status: "fulfilled", value: succeed(head("c")) },
    ]);
    await expect(bucket.batch.call(head("b"), read)).rejects.toBe(unreadable);
  });

  it("rejects only the call whose operation cannot be read", async () => {
    const bucket = new Bucket();
    const unreadable = { method: "delete", keys: undefined } as unknown as Request<"delete">;
    const calls = await Promise.allSettled([
      bucket.batch.call<Method, Outcome>(unreadable, identity),
      bucket.batch.call<Method, Outcome>(head("a"), identity),
    ]);
    expect(calls.map(({ status }) => status)).toStrictEqual(["rejected", "fulfilled"]);
  });

  it("rejects all calls of a batch that cannot be sent, and no call of the next", async () => {
    const bucket = new Bucket();
    const lost = new Error("Network connection lost.");
    bucket.answer = async () => {
      throw lost;
    };
    const calls = await Promise.allSettled(
      [head("a"), head("b")].map((call) => bucket.batch.call(call, identity)),
    );
    expect(calls).toStrictEqual([
      { status: "rejected", reason: internal(lost) },
      { status: "rejected", reason: internal(lost) },
    ]);
    bucket.answer = async (messages) => messages.map(succeed);
    await expect(bucket.batch.call(head("c"), identity)).resolves.toStrictEqual(succeed(head("c")));
  });

  it("begins another batch when one is full, and answers each call of both", async () => {
    const bucket = new Bucket();
    const keys = Array.from({ length: 130 }, (_, index) => `${index}`);
    const calls = keys.map((key) => bucket.batch.call({ method: "get", key }, identity));
    const answers = await Promise.all(calls);
    expect(bucket.sizes).toStrictEqual([112, 18]);
    expect(bucket.batches.flat().map((message) => "key" in message && message.key)).toStrictEqual(
      keys,
    );
    expect(answers).toStrictEqual(keys.map((key) => succeed(head(key))));
  });

  const lost = new Error("lost");
  const inGlobalScope = new Error(
    "Disallowed operation called within global scope. Asynchronous I/O",
  );
  it.each([
    [1, lost, internal(lost)],
    [2, lost, internal(lost)],
    [1, inGlobalScope, inGlobalScope],
    [2, inGlobalScope, inGlobalScope],
  ])(
    "rejects %i calls when the sender throws synchronously: %s",
    async (count, error, expected) => {
      const refuse = (): never => {
        throw error;
      };
      const batch = new Batch({ send: refuse, sendOne: refuse });
      const calls = Array.from({ length: count }, () => batch.call(head("a"), identity));
      const outcomes = await Promise.allSettled(calls);
      expect(outcomes).toStrictEqual(calls.map(() => ({ status: "rejected", reason: expected })));
    },
  );

  // The most bytes that one operation carries, by the limits of the service (`limits.ts`).
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

/** Runs the code of a turn whose microtasks the runtime drops. */
function abortTurn(act: () => void): void {
  const { prototype } = Promise;
  const then = Object.getOwnPropertyDescriptor(prototype, "then") as PropertyDescriptor;
  // oxlint-disable-next-line unicorn/no-thenable -- a promise has `then` already
  Reflect.defineProperty(prototype, "then", { ...then, value: () => prototype });
  try {
    act();
  } finally {
    // oxlint-disable-next-line unicorn/no-thenable -- the original
    Reflect.defineProperty(prototype, "then", then);
  }
}

async function callTimes(bucket: Bucket, count: number, operation: Operation): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => bucket.batch.call(operation, identity)));
}

const unanswered = new Error("internal error; reference = x");
const full = { text: "No space left on the device that holds /state.", lacksSpace: true };
const other = { text: "other", lacksSpace: false };
const remove: Operation = { method: "delete", keys: ["b"] };
const put = {
  method: "put",
  key: "c",
  content: { blob: "run.blob", size: 200_000, checksums: {} },
} as unknown as Operation;

function diskBucket(options: {
  problem: DiskProblem | null;
  diskProblem?: DiskProblem | null;
  failures?: number;
  hasRequestId?: boolean;
}) {
  const { problem, diskProblem = null, failures = 0, hasRequestId = false } = options;
  const sent: Operation[][] = [];
  const send = async (messages: Operation[]): Promise<Outcome[]> => {
    const operations = messages;
    sent.push(operations);
    if (sent.length <= failures) throw unanswered;
    return operations.map(({ method }) =>
      method === "checkDisk" ? { ok: true, value: { problem } } : { ok: true, value: null },
    );
  };
  return { sent, recovery: { send, askDisk: async () => diskProblem, hasRequestId } };
}

describe("answerFailedBatch()", () => {
  it("throws the error when the disk is not the reason", async () => {
    const { recovery, sent } = diskBucket({ problem: null });
    await expect(answerFailedBatch(recovery, [head("a")], unanswered)).rejects.toBe(unanswered);
    expect(sent).toHaveLength(1);
  });

  it("repeats reads and deletes, and refuses puts", async () => {
    const { recovery, sent } = diskBucket({ problem: full });
    const answers = await answerFailedBatch(recovery, [head("a"), put, remove], unanswered);
    const done = { ok: true, value: null };
    expect(answers).toEqual([done, refusedOutcome(full), done]);
    expect(sent[0]).toMatchObject([{ method: "checkDisk", blobs: ["run.blob"] }]);
    expect(sent[1]).toEqual([head("a"), remove]);
  });

  it("repeats the whole batch where the bucket knows its id", async () => {
    const { recovery, sent } = diskBucket({ problem: full, hasRequestId: true });
    await answerFailedBatch(recovery, [head("a"), put, remove], unanswered);
    expect(sent[1]).toEqual([head("a"), put, remove]);
  });

  it("asks the disk when the bucket does not answer, and then the bucket again", async () => {
    const { recovery, sent } = diskBucket({ problem: full, diskProblem: other, failures: 1 });
    expect(await answerFailedBatch(recovery, [put], unanswered)).toEqual([refusedOutcome(full)]);
    expect(sent).toHaveLength(2);
  });

  it("says what the disk says when the bucket never answers", async () => {
    const { recovery } = diskBucket({ problem: null, diskProblem: full, failures: Infinity });
    await expect(answerFailedBatch(recovery, [head("a")], unanswered)).rejects.toThrow(full.text);
    await expect(
      answerFailedBatch(
        diskBucket({ problem: null, failures: 9 }).recovery,
        [head("a")],
        unanswered,
      ),
    ).rejects.toBe(unanswered);
  });
});
