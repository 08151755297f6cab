/** A remote bucket whose requests and answers get lost: nothing is lost, and nothing happens twice. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Method } from "../../src/store/core/errors.ts";
import { decodeObjects } from "../../src/store/core/object.ts";
import type { Request, Result } from "../../src/store/core/operations.ts";
import {
  TransportError,
  type S3Answer,
  type S3Message,
} from "../../src/store/remote/s3-transport.ts";
import { useS3Service } from "../support/s3-services.ts";
import { callRemote, contentOf, openRemote, type RemoteStore } from "./support/remote-store.ts";
import { description } from "./support/store-client.ts";

const s3 = useS3Service("photos");
let remote: RemoteStore;
let sent: string[] = [];

/** What happens to a request, decided when the request is sent. */
type Fault = (message: S3Message, send: () => Promise<S3Answer>) => Promise<S3Answer> | undefined;
let faults: Fault[] = [];

beforeAll(() => {
  remote = openRemote(s3.server, "photos", {
    around: (transport) => async (message) => {
      sent.push(`${message.method} ${message.target.replace(/uploadId=.*/, "uploadId")}`);
      const send = (): Promise<S3Answer> => transport(message);
      for (const [index, fault] of faults.entries()) {
        const answer = fault(message, send);
        if (answer === undefined) continue;
        faults.splice(index, 1);
        return answer;
      }
      return send();
    },
  });
});
beforeEach(() => {
  sent = [];
  faults = [];
});
afterAll(() => remote.close());

const isOf = (message: S3Message, method: string): boolean => message.method === method;
const lost = (): TransportError => new TransportError("lost", "socket hang up");

/** The service executes the request, and its answer is lost. */
const loseAnswer =
  (method: string, then: () => Promise<unknown> = async () => {}): Fault =>
  (message, send) =>
    isOf(message, method)
      ? send().then(async ({ body }) => {
          await body?.cancel();
          await then();
          throw lost();
        })
      : undefined;

/** The request does not arrive, and its sender does not know. */
const dropRequest =
  (method: string, then: () => Promise<unknown> = async () => {}): Fault =>
  (message) =>
    isOf(message, method)
      ? then().then(() => {
          throw lost();
        })
      : undefined;

const call = <M extends Exclude<Method, "get">>(request: Request<M>): Promise<Result<M>> =>
  callRemote(remote, request);
const put = (key: string, value: string, options: Partial<Request<"put">> = {}) =>
  call<"put">({ method: "put", key, content: contentOf(value), ...description, ...options });
/** A write of another client. */
const otherPut = (key: string, body: string) =>
  s3.client.send({ method: "PUT", target: `/photos/${key}`, body });
const textOf = async (key: string): Promise<string> =>
  (await s3.client.send({ target: `/photos/${key}` })).text;

/** An upload with one part. */
async function uploadPart(key: string, fault?: Fault) {
  const created = await call<"createUpload">({ method: "createUpload", key, ...description });
  const upload = { key, uploadId: created.uploadId };
  if (fault !== undefined) faults = [fault];
  const request = { ...upload, partNumber: 1, content: contentOf("part") };
  const parts = [await call<"uploadPart">({ method: "uploadPart", ...request })];
  return () => call<"completeUpload">({ method: "completeUpload", ...upload, parts });
}

describe("an upload", () => {
  it("is completed once when answers are lost", async () => {
    for (const fault of [loseAnswer, dropRequest]) {
      const key = `upload-${fault.name}`;
      const complete = await uploadPart(key, fault("PUT"));
      faults = [fault("POST")];
      sent = [];
      const text = await complete();
      const head = await call<"head">({ method: "head", key });
      expect(text).toBe(head);
      const posts = sent.filter((line) => line.startsWith("POST"));
      expect(posts).toHaveLength(fault === loseAnswer ? 1 : 2);
      expect(await textOf(key)).toBe("part");
    }
  });

  it("is uncertain when the object was overwritten after the lost answer", async () => {
    const key = "upload-overwritten";
    const complete = await uploadPart(key);
    faults = [loseAnswer("POST", () => otherPut(key, "other"))];
    await expect(complete()).rejects.toThrow(/may have been stored and overwritten/);
  });
});

/** The service does not execute the request, and answers with a document. */
const answerWith =
  (method: string, document: string): Fault =>
  (message) =>
    isOf(message, method)
      ? Promise.resolve({
          status: 200,
          headers: new Headers({ "content-length": String(document.length) }),
          body: new Blob([document]).stream(),
        })
      : undefined;

const errorOf = (code: string): string =>
  `<Error><Code>${code}</Code><Message>No.</Message></Error>`;

describe("an answer with status 200 and an error in it", () => {
  it("does not complete an upload: the request is repeated, or refused", async () => {
    const key = "upload-error";
    const complete = await uploadPart(key);
    faults = [answerWith("POST", errorOf("InvalidPart"))];
    await expect(complete()).rejects.toMatchObject({ code: 10025 });
    faults = [answerWith("POST", errorOf("InvalidRequest"))];
    await expect(complete()).rejects.toThrow(/answered with InvalidRequest: No\.$/);
    faults = [answerWith("POST", errorOf("InternalError")), answerWith("POST", "  <Compl")];
    sent = [];
    await complete();
    expect(sent.filter((line) => line.startsWith("POST"))).toHaveLength(3);
    expect(await textOf(key)).toBe("part");
  });

  it("names the first key that was not deleted", async () => {
    const document =
      "<DeleteResult><Error><Key>d1</Key><Code>NoSuchKey</Code></Error>" +
      "<Error><Key>d2</Key><Code>AccessDenied</Code><Message>No.</Message></Error></DeleteResult>";
    faults = [answerWith("POST", document)];
    const refused = call<"delete">({ method: "delete", keys: ["d1", "d2"] });
    await expect(refused).rejects.toMatchObject({
      message:
        'Cannot delete 1 of 2 objects. The first is "d2", for which the S3 service answered with ' +
        "AccessDenied: No.",
    });
  });
});

describe("a get", () => {
  it("reads small content again when it breaks off", async () => {
    await put("broken", "0123456789");
    sent = [];
    faults = [
      (message, send) =>
        isOf(message, "GET")
          ? send().then(async (answer) => {
              await answer.body?.cancel();
              return { ...answer, body: new Blob(["01234"]).stream() };
            })
          : undefined,
    ];
    const found = await remote.bucket.get({ key: "broken" });
    expect(found?.status === "found" && found.content).toEqual(contentBuffer("0123456789"));
    expect(sent.filter((line) => line.startsWith("GET"))).toHaveLength(2);
  });

  it("with a condition returns one version when the object is replaced meanwhile", async () => {
    await put("replaced", "old");
    faults = [
      (message, send) =>
        isOf(message, "GET") ? otherPut("replaced", "new one").then(send) : undefined,
    ];
    const onlyIf = { uploadedAfter: 0 };
    sent = [];
    const found = await remote.bucket.get({ key: "replaced", onlyIf });
    expect(found).toMatchObject({ object: { size: 7 }, content: contentBuffer("new one") });
    expect(sent.map((line) => line.split(" ")[0])).toEqual(["HEAD", "GET", "HEAD", "GET"]);
  });
});

describe("a list", () => {
  it("leaves out an object that is deleted meanwhile", async () => {
    for (const key of ["list/1", "list/2", "list/3"]) await put(key, key);
    faults = [
      (message, send) =>
        message.method === "HEAD" && message.target.endsWith("list/2")
          ? s3.client.send({ method: "DELETE", target: "/photos/list/2" }).then(send)
          : undefined,
    ];
    const { objectsJson } = await call<"list">({
      method: "list",
      prefix: "list/",
      delimiter: "",
      limit: 10,
      includeHttp: true,
      includeCustom: false,
    });
    const objects = decodeObjects(objectsJson, { http: true, custom: false });
    expect(objects.map(({ key }) => key)).toEqual(["list/1", "list/3"]);
  });

  it("without metadata is one request, and has what the service lists", async () => {
    const stored = JSON.parse((await put("plain/1", "content")) as string) as unknown[];
    sent = [];
    const { objectsJson } = await call<"list">({
      method: "list",
      prefix: "plain/",
      delimiter: "",
      limit: 10,
      includeHttp: false,
      includeCustom: false,
    });
    expect(sent.map((line) => line.split(" ")[0])).toEqual(["GET"]);
    const [object] = decodeObjects(objectsJson, { http: false, custom: false });
    const etag = "9a0364b9e99bb480dd25e1f0284c8555";
    expect(JSON.stringify(stored)).toContain(etag);
    expect(object).toMatchObject({ key: "plain/1", size: 7, etag, version: etag });
    expect(object).toMatchObject({ checksums: { md5: etag }, storageClass: "Standard" });
    expect(object?.uploaded).toBeGreaterThan(0);
  });
});

function contentBuffer(text: string): ArrayBuffer {
  return new TextEncoder().encode(text).buffer;
}
