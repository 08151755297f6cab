/** A remote bucket whose requests and answers get lost: nothing is lost, and nothing happens twice. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Method } from "../../src/store/core/errors.ts";
import { decodeObject, decodeObjects } from "../../src/store/core/object.ts";
import type { Request, Result } from "../../src/store/core/operations.ts";
import {
  TransportError,
  type S3Answer,
  type S3Message,
} from "../../src/store/remote/s3-transport.ts";
import { useS3Service } from "../support/s3-services.ts";
import {
  allFeatures,
  callRemote,
  contentOf,
  md5Of,
  openRemote,
  type RemoteStore,
} from "./support/remote-store.ts";

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

const plain = { http: {}, custom: {}, storageClass: "Standard" } as const;
const call = <M extends Exclude<Method, "get">>(request: Request<M>): Promise<Result<M>> =>
  callRemote(remote, request);
const put = (key: string, value: string, options: Partial<Request<"put">> = {}) =>
  call<"put">({ method: "put", key, content: contentOf(value), ...plain, ...options });
/** A write of another client. */
const otherPut = (key: string, body: string) =>
  s3.client.send({ method: "PUT", target: `/photos/${key}`, body });
const textOf = async (key: string): Promise<string> =>
  (await s3.client.send({ target: `/photos/${key}` })).text;
const versionOf = (key: string, text: string | null): string =>
  decodeObject(key, text as string).version;

const ifAbsent = { onlyIf: { etagDoesNotMatch: [{ kind: "any" }] } } as const;

describe("a put", () => {
  it("whose answer is lost was stored, and is not sent again", async () => {
    for (const options of [{}, ifAbsent]) {
      const key = `lost-${Object.keys(options).length}`;
      sent = [];
      faults = [loseAnswer("PUT")];
      const stored = await put(key, "1", options);
      expect(sent.filter((line) => line.startsWith("PUT"))).toHaveLength(1);
      const head = await call<"head">({ method: "head", key });
      expect(versionOf(key, stored)).toBe(versionOf(key, head));
    }
  });

  it("that did not arrive is sent again, with its file", async () => {
    faults = [dropRequest("PUT"), dropRequest("PUT")];
    const bytes = new Uint8Array(200_000).fill(65);
    await put("dropped", "", { content: remote.spool.write(bytes), ...ifAbsent });
    expect(md5Of(Buffer.from(await textOf("dropped")))).toBe(md5Of(bytes));
    expect(remote.spool.files.size).toBe(0);
  });
});

describe("an upload", () => {
  it("is completed once when answers are lost", async () => {
    for (const fault of [loseAnswer, dropRequest]) {
      const key = `upload-${fault.name}`;
      const created = await call<"createUpload">({ method: "createUpload", key, ...plain });
      const upload = { key, uploadId: created.uploadId };
      faults = [fault("PUT")];
      const content = contentOf("part");
      const part = await call<"uploadPart">({
        method: "uploadPart",
        ...upload,
        partNumber: 1,
        content,
      });
      faults = [fault("POST")];
      sent = [];
      const text = await call<"completeUpload">({
        method: "completeUpload",
        ...upload,
        parts: [part],
      });
      const head = await call<"head">({ method: "head", key });
      expect(text).toBe(head);
      const posts = sent.filter((line) => line.startsWith("POST"));
      expect(posts).toHaveLength(fault === loseAnswer ? 1 : 2);
      expect(await textOf(key)).toBe("part");
    }
  });

  it("is uncertain when the object was overwritten after the lost answer", async () => {
    const key = "upload-overwritten";
    const created = await call<"createUpload">({ method: "createUpload", key, ...plain });
    const upload = { key, uploadId: created.uploadId };
    const request = { ...upload, partNumber: 1, content: contentOf("part") };
    const part = await call<"uploadPart">({ method: "uploadPart", ...request });
    faults = [loseAnswer("POST", () => otherPut(key, "other"))];
    const complete = call<"completeUpload">({ method: "completeUpload", ...upload, parts: [part] });
    await expect(complete).rejects.toThrow(/may have been stored and overwritten/);
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
    const created = await call<"createUpload">({ method: "createUpload", key, ...plain });
    const upload = { key, uploadId: created.uploadId };
    const request = { ...upload, partNumber: 1, content: contentOf("part") };
    const part = await call<"uploadPart">({ method: "uploadPart", ...request });
    const complete = () =>
      call<"completeUpload">({ method: "completeUpload", ...upload, parts: [part] });
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

const deletesSent = (): number => sent.filter((line) => line.startsWith("DELETE")).length;
const remove = (): Promise<null> => call<"delete">({ method: "delete", keys: ["deleted"] });

describe("a delete", () => {
  it("with a condition is refused where the service ignores conditions", async () => {
    const features = { ...allFeatures, conditionalDelete: false };
    const older = openRemote(s3.server, "photos", { features });
    await put("kept", "1");
    const request = { method: "delete", keys: ["kept"], onlyIf: { uploadedAfter: 0 } } as const;
    await expect(callRemote<"delete">(older, { ...request, keys: ["kept"] })).rejects.toThrow(
      /the S3 service ignores conditions of a delete/,
    );
    older.close();
    expect(await textOf("kept")).toBe("1");
  });

  it("whose answer is lost is not sent again, and one that did not arrive is", async () => {
    for (const [fault, count] of [
      [loseAnswer, 1],
      [dropRequest, 2],
    ] as const) {
      await put("deleted", "1");
      sent = [];
      faults = [fault("DELETE")];
      await remove();
      expect(deletesSent()).toBe(count);
      expect(await call<"head">({ method: "head", key: "deleted" })).toBeNull();
    }
  });

  it("has no request of its own where there is no object", async () => {
    await call<"delete">({ method: "delete", keys: ["missing"] });
    expect(deletesSent()).toBe(0);
  });
});

describe("a get", () => {
  it("reads small content again when it breaks off", async () => {
    await put("broken", "0123456789");
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
      includeHttp: false,
      includeCustom: false,
    });
    const objects = decodeObjects(objectsJson, { http: false, custom: false });
    expect(objects.map(({ key }) => key)).toEqual(["list/1", "list/3"]);
  });
});

describe("a service that is gone", () => {
  it("is named in one sentence", async () => {
    const gone = openRemote({ ...s3.server, port: 1 }, "photos");
    const outcome = await gone.bucket.execute({ method: "head", key: "x" });
    gone.close();
    expect(outcome).toMatchObject({ ok: false, code: 10001 });
    expect(outcome.ok ? "" : outcome.text).toMatch(/cluster/);
  });
});

function contentBuffer(text: string): ArrayBuffer {
  return new TextEncoder().encode(text).buffer;
}
