/**
 * Answers that put a write off (408, 429, 503). Proxies send them also after they have passed a request on, so the
 * object is read before the write is sent again: each attack is made 40 times, and no outcome is false.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Request } from "../../src/store/core/operations.ts";
import { md5 } from "../../src/store/core/hash.ts";
import { RemoteBucket } from "../../src/store/remote/remote-bucket.ts";
import { startFaultyProxy, type FaultyProxy, type ForeignAnswer } from "../support/faulty-proxy.ts";
import { useS3Service } from "../support/s3-services.ts";
import { connectTo, transport } from "./support/remote-connection.ts";
import {
  allFeatures,
  callRemote,
  contentOf,
  openRemote,
  type RemoteStore,
} from "./support/remote-store.ts";
import { description } from "./support/store-client.ts";

const attacks = 40;
const s3 = useS3Service("photos");
let proxy: FaultyProxy;
/** Behind the proxy, and of another client, without a proxy. */
let bucket: RemoteBucket;
let other: RemoteStore;

beforeAll(async () => {
  const { port, credentials } = s3.server;
  proxy = await startFaultyProxy(`http://127.0.0.1:${port}`);
  const connection = connectTo({ endpoint: proxy.endpoint }, credentials);
  const spool = { open: () => Promise.reject(new Error("unused")), remove: async () => {} };
  bucket = new RemoteBucket({ connection, features: allFeatures, spool });
  other = openRemote(s3.server, "photos");
});
afterAll(async () => {
  await proxy.close();
  other.close();
  transport.close();
});

const errorOf = (code: string) => `<Error><Code>${code}</Code><Message>No.</Message></Error>`;
const answers: Readonly<Record<string, ForeignAnswer>> = {
  "503 without a text": { status: 503 },
  "503 with a page": { status: 503, text: "<html><body>Busy.</body></html>" },
  "408": { status: 408 },
  "429": { status: 429 },
  "503 SlowDown of S3": { status: 503, text: errorOf("SlowDown") },
  "429 TooManyRequests of S3": { status: 429, text: errorOf("TooManyRequests") },
};
const isOfService = ({ text = "" }: ForeignAnswer) => text.startsWith("<Error>");

interface Attack {
  readonly answer: ForeignAnswer;
  readonly isExecuted: boolean;
  readonly meanwhile?: () => Promise<unknown>;
  /** How many writes get the answer. */
  readonly count?: number;
}

/** Executes a request whose first writes are put off. @returns also how often the write was sent */
async function attacked(request: Request<"put" | "delete" | "completeUpload">, attack: Attack) {
  const { count = 1, ...fault } = attack;
  let writes = 0;
  proxy.setRule(({ method }) => {
    if (method === "GET" || method === "HEAD") return null;
    return ++writes > count ? null : { kind: "foreign answer", ...fault };
  });
  const outcome = await bucket.execute(request);
  proxy.setRule(() => null);
  return { outcome, writes };
}

const put = (key: string, text: string, options: Partial<Request<"put">> = {}): Request<"put"> => ({
  method: "put",
  key,
  content: contentOf(text),
  ...description,
  ...options,
});
const otherPut = (key: string, text = "other") => callRemote<"put">(other, put(key, text));
const textOf = async (key: string): Promise<string | null> => {
  const { status, text } = await s3.client.send({ target: `/photos/${key}` });
  return status === 200 ? text : null;
};
const absent = { etagDoesNotMatch: [{ kind: "any" }] } as const;
const present = (text: string) =>
  ({ etagMatches: [{ kind: "strong", value: md5(new TextEncoder().encode(text)) }] }) as const;

/** Each number of the attacks. @returns what was false, for people */
async function repeat(work: (number: number) => Promise<string | null>): Promise<string[]> {
  const wrong: string[] = [];
  for (let number = 0; number < attacks; number++) {
    const sentence = await work(number);
    if (sentence !== null) wrong.push(`${number}: ${sentence}`);
  }
  return wrong;
}

describe.each(Object.entries(answers))("a write that is put off by %s", (name, answer) => {
  const start = name.replaceAll(" ", "-");

  it.each([true, false])("with a condition is stored once: executed %s", async (isExecuted) => {
    const wrong = await repeat(async (number) => {
      const key = `${start}/${isExecuted}/${number}`;
      const created = await attacked(put(key, "1", { onlyIf: absent }), { answer, isExecuted });
      const changed = await attacked(put(key, "2", { onlyIf: present("1") }), {
        answer,
        isExecuted,
      });
      const results = [created, changed].map(
        ({ outcome, writes }) =>
          outcome.ok && outcome.value !== null && writes === (isExecuted ? 1 : 2),
      );
      const text = await textOf(key);
      return results.every(Boolean) && text === "2"
        ? null
        : JSON.stringify([created, changed, text]);
    });
    expect(wrong).toEqual([]);
  });

  it("without a condition does not overwrite what another client has put meanwhile", async () => {
    const wrong = await repeat(async (number) => {
      const key = `${start}/plain/${number}`;
      const meanwhile = () => otherPut(key);
      const { outcome } = await attacked(put(key, "own"), { answer, isExecuted: true, meanwhile });
      const isUnknown = !outcome.ok && outcome.failure?.outcome === "unknown";
      const text = await textOf(key);
      return isUnknown && text === "other" ? null : JSON.stringify([outcome, text]);
    });
    expect(wrong).toEqual([]);
  });

  it("with a condition that held is not refused because of another client", async () => {
    const wrong = await repeat(async (number) => {
      const key = `${start}/lost/${number}`;
      const meanwhile = () => otherPut(key);
      const attack = { answer, isExecuted: true, meanwhile };
      const { outcome } = await attacked(put(key, "own", { onlyIf: absent }), attack);
      const isUnknown = !outcome.ok && outcome.failure?.outcome === "unknown";
      const text = await textOf(key);
      return isUnknown && text === "other" ? null : JSON.stringify([outcome, text]);
    });
    expect(wrong).toEqual([]);
  });

  it("is a delete: what another client has put meanwhile stays", async () => {
    const wrong = await repeat(async (number) => {
      const key = `${start}/delete/${number}`;
      await otherPut(key, "old");
      const meanwhile = () => otherPut(key);
      const attack = { answer, isExecuted: true, meanwhile };
      const { outcome } = await attacked({ method: "delete", keys: [key] }, attack);
      const isUnknown = !outcome.ok && outcome.failure?.outcome === "unknown";
      const text = await textOf(key);
      return isUnknown && text === "other" ? null : JSON.stringify([outcome, text]);
    });
    expect(wrong).toEqual([]);
  });

  it.each([true, false])("is the completion of an upload: executed %s", async (isExecuted) => {
    const wrong = await repeat(async (number) => {
      const key = `${start}/upload/${isExecuted}/${number}`;
      const created = { method: "createUpload", key, ...description } as const;
      const { uploadId } = await callRemote<"createUpload">(other, created);
      const part = { method: "uploadPart", key, uploadId, partNumber: 1 } as const;
      const content = contentOf("part");
      const parts = [await callRemote<"uploadPart">(other, { ...part, content })];
      const request = { method: "completeUpload", key, uploadId, parts } as const;
      const { outcome, writes } = await attacked(request, { answer, isExecuted });
      const text = await textOf(key);
      const isRight = outcome.ok && writes === (isExecuted ? 1 : 2) && text === "part";
      return isRight ? null : JSON.stringify([outcome, text]);
    });
    expect(wrong).toEqual([]);
  });

  it("each time is not executed only if the service says so", async () => {
    const isPutOff = { answer, isExecuted: false, count: 99 };
    const { outcome, writes } = await attacked(put(`${start}/never`, "own"), isPutOff);
    const expected = isOfService(answer) ? "not executed" : "unknown";
    expect([!outcome.ok && outcome.failure?.outcome, writes]).toEqual([expected, 5]);
  });

  it("with a long pause is read once more, and not sent again", async () => {
    const slow = { ...answer, headers: { "retry-after": "3600" } };
    for (const isExecuted of [true, false]) {
      const key = `${start}/pause/${isExecuted}`;
      const { outcome, writes } = await attacked(put(key, "own"), { answer: slow, isExecuted });
      const expected = isOfService(answer) ? "not executed" : "unknown";
      const failure = { outcome: expected, retryAfterSeconds: 3600 };
      expect(outcome).toMatchObject(isExecuted ? { ok: true } : { ok: false, failure });
      expect(writes).toBe(1);
    }
  });
});

it("a completed upload whose object cannot be read is completed", async () => {
  const key = "completed";
  const created = { method: "createUpload", key, ...description } as const;
  const { uploadId } = await callRemote<"createUpload">(other, created);
  const part = { method: "uploadPart", key, uploadId, partNumber: 1 } as const;
  const parts = [await callRemote<"uploadPart">(other, { ...part, content: contentOf("part") })];
  let isCompleted = false;
  proxy.setRule(({ method }) => {
    if (isCompleted && method === "HEAD") return { kind: "error", status: 500, isExecuted: false };
    isCompleted ||= method === "POST";
    return null;
  });
  const outcome = await bucket.execute({ method: "completeUpload", key, uploadId, parts });
  proxy.setRule(() => null);
  expect(isCompleted).toBe(true);
  expect(outcome).toMatchObject({ ok: true, value: expect.stringContaining("-1") as string });
  expect(await textOf(key)).toBe("part");
});

it("a completion beside an abort names no object where there is none", async () => {
  const key = "aborted";
  const created = { method: "createUpload", key, ...description } as const;
  const { uploadId } = await callRemote<"createUpload">(other, created);
  const part = { method: "uploadPart", key, uploadId, partNumber: 1 } as const;
  const parts = [await callRemote<"uploadPart">(other, { ...part, content: contentOf("part") })];
  const meanwhile = () =>
    callRemote<"abortUpload">(other, { method: "abortUpload", key, uploadId });
  const attack = { answer: { status: 503 }, isExecuted: false, meanwhile };
  const request = { method: "completeUpload", key, uploadId, parts } as const;
  const { outcome } = await attacked(request, attack);
  const text = expect.stringMatching(/has neither the upload nor an object now/) as string;
  expect(outcome).toMatchObject({ ok: false, text, failure: { outcome: "unknown" } });
});
