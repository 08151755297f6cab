/** Answers of another server than the S3 service: nothing counts as done that the service has not said to be done. */
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import type { Method } from "../../src/store/core/errors.ts";
import type { Request } from "../../src/store/core/operations.ts";
import { RemoteBucket } from "../../src/store/remote/remote-bucket.ts";
import { foreignFailures, foreignSuccesses } from "../support/foreign-answers.ts";
import { startFaultyProxy, type ForeignAnswer, type ProxyRule } from "../support/faulty-proxy.ts";
import { useS3Service } from "../support/s3-services.ts";
import { connectTo, transport } from "./support/remote-connection.ts";
import { allFeatures, callRemote, contentOf, openRemote } from "./support/remote-store.ts";
import { description } from "./support/store-client.ts";

const s3 = useS3Service("photos");
afterAll(() => transport.close());

/** A bucket behind a proxy. No retry waits, and an answer may pause for a moment. */
async function startBucket() {
  const { port, credentials } = s3.server;
  const proxy = await startFaultyProxy(`http://127.0.0.1:${port}`);
  onTestFinished(() => proxy.close());
  const connection = connectTo({ endpoint: proxy.endpoint }, credentials, {
    idleMilliseconds: 200,
  });
  const spool = { open: () => Promise.reject(new Error("unused")), remove: async () => {} };
  const bucket = new RemoteBucket({ connection, features: allFeatures, spool });
  return { bucket, proxy };
}

const always =
  (answer: ForeignAnswer, isExecuted = false): ProxyRule =>
  () => ({ kind: "foreign answer", answer, isExecuted });

/** The first write gets the answer. */
const once = (answer: ForeignAnswer, isExecuted: boolean): ProxyRule => {
  let writes = 0;
  return ({ method }) => {
    const isWrite = method !== "GET" && method !== "HEAD";
    return isWrite && writes++ === 0 ? { kind: "foreign answer", answer, isExecuted } : null;
  };
};

const direct = () => {
  const store = openRemote(s3.server, "photos");
  onTestFinished(() => store.close());
  return store;
};

const put = (key: string, text: string): Request<"put"> => ({
  method: "put",
  key,
  content: contentOf(text),
  ...description,
});

/** Requests of which the first is sent to a service that works. */
async function startUpload(key: string) {
  const store = direct();
  const created = { method: "createUpload", key, ...description } as const;
  const { uploadId } = await callRemote<"createUpload">(store, created);
  const part = { method: "uploadPart", key, uploadId, partNumber: 1, content: contentOf("part") };
  const stored = await callRemote<"uploadPart">(store, part as Request<"uploadPart">);
  return {
    part: part as Request<"uploadPart">,
    complete: { method: "completeUpload", key, uploadId, parts: [stored] } as const,
    abort: { method: "abortUpload", key, uploadId } as const,
  };
}

const foreign = Object.entries({ ...foreignSuccesses, ...foreignFailures });
const names = foreign.map(([name]) => name);
const hasTag = (name: string) => name === "200 with another entity tag";
const answerOf = (name: string) => ({ ...foreignSuccesses, ...foreignFailures })[name]!;

describe.each(names)("a service that answers each request with %s", (name) => {
  it("acknowledges nothing, and has no object and no absence", { timeout: 60_000 }, async () => {
    const { bucket, proxy } = await startBucket();
    const upload = await startUpload("upload");
    const requests: Request<Exclude<Method, "get">>[] = [
      put("a", "text"),
      { ...put("a", "text"), onlyIf: { etagDoesNotMatch: [{ kind: "any" }] } } as never,
      // 204 is what the service itself says about a delete.
      ...(name === "204" ? [] : [{ method: "delete", keys: ["a"] } as never]),
      { method: "delete", keys: ["a", "b"] } as never,
      // A tag alone tells no page from an object.
      ...(hasTag(name) ? [] : [{ method: "head", key: "a" } as never]),
      { method: "createUpload", key: "a", ...description } as never,
      upload.part,
      upload.complete,
    ];
    proxy.setRule(always(answerOf(name)));
    for (const request of requests) {
      const outcome = await bucket.execute(request);
      expect({ request, ...outcome }).toMatchObject({ ok: false, code: 10001 });
    }
    const got = await bucket.get({ key: "a" }).catch((error: unknown) => error);
    expect(hasTag(name) ? { code: 10001 } : got).toMatchObject({ code: 10001 });
    proxy.setRule(() => null);
    expect(await bucket.execute({ method: "head", key: "a" })).toMatchObject({ value: null });
    expect(await bucket.execute(upload.abort)).toMatchObject({ ok: true });
  });
});

describe.each(Object.keys(foreignSuccesses))("a write that is answered once with %s", (name) => {
  const answer = answerOf(name);

  it.each([true, false])("has the outcome that reading shows: executed %s", async (isExecuted) => {
    const { bucket, proxy } = await startBucket();
    const store = direct();
    const upload = await startUpload("joined");
    const run = async (
      request: Request<"put"> | Request<"delete"> | Request<"completeUpload">,
      expected: object = { ok: true },
    ) => {
      proxy.setRule(once(answer, isExecuted));
      const outcome = await bucket.execute(request as Request<"put">);
      proxy.setRule(() => null);
      expect({ request, ...outcome }).toMatchObject(expected);
    };
    const isThere = async (key: string) =>
      (await callRemote<"head">(store, { method: "head", key })) !== null;
    // A request that has used its time is not sent again: it may be executed still.
    const isOpen = answer.octetMilliseconds !== undefined && !isExecuted;
    const mayBeStored = expect.stringMatching(/may have been stored or not/) as string;
    const written = isOpen ? { code: 10001, text: mayBeStored } : { ok: true };
    await run(put("b", "text"), written);
    expect(await isThere("b")).toBe(!isOpen);
    if (isOpen) await callRemote<"put">(store, put("b", "text"));
    // 204 is what the service itself says about a delete. The object is too young to tell that it was there before.
    const isKnown = isExecuted || name === "204";
    const text = expect.stringMatching(/may have been deleted/) as string;
    await run({ method: "delete", keys: ["b"] }, isKnown ? { ok: true } : { code: 10001, text });
    expect(await isThere("b")).toBe(!isExecuted);
    await run(upload.complete);
    expect(await isThere("joined")).toBe(true);
    await callRemote<"delete">(store, { method: "delete", keys: ["joined"] });
    await callRemote<"delete">(store, { method: "delete", keys: ["b"] });
  });
});

it("a delete in a bucket that is missing is no success", async () => {
  const store = openRemote(s3.server, "missing");
  onTestFinished(() => store.close());
  for (const keys of [["a"], ["a", "b"]]) {
    await expect(callRemote<"delete">(store, { method: "delete", keys })).rejects.toThrow(
      /has no bucket "missing"/,
    );
  }
  await expect(callRemote<"head">(store, { method: "head", key: "a" })).rejects.toThrow(
    /has no bucket "missing"/,
  );
});
