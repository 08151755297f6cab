/**
 * The bounds of requests to an S3 service: slow and silent services end a call in its time, a full queue says so, and
 * connections are capped. The times are scaled down.
 */
import { once } from "node:events";
import { createServer as createHttp, request as sendHttp, type ServerResponse } from "node:http";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { afterAll, describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { startS3, type StoreBucket } from "../../dist/index.js";
import { createHttpTransport } from "../../src/store/node/http-transport.ts";
import type { ServiceFailure } from "../../src/store/core/errors.ts";
import type { StoreServiceError } from "../../src/types/store.ts";
import { RemoteBucket } from "../../src/store/remote/remote-bucket.ts";
import { S3Connection, type S3ConnectionOptions } from "../../src/store/remote/s3-connection.ts";
import { temporaryFolder } from "../support/store.ts";
import { bucketEntry, worker } from "../support/worker.ts";
import { raw, rawError, startRawServer, type RawAnswer } from "./support/raw-server.ts";
import { connectTo, failureOf, get, put, textOf, transport } from "./support/remote-connection.ts";
import { startRemoteRuntime } from "./support/remote-runtime.ts";
import { allFeatures, contentOf } from "./support/remote-store.ts";
import { description } from "./support/store-client.ts";

afterAll(() => transport.close());

const limits = { answerMilliseconds: 400, idleMilliseconds: 400, callMilliseconds: 1000 };
/** For services that answer, which takes seconds on a busy machine. */
const answering = { ...limits, answerMilliseconds: 30_000, callMilliseconds: 30_000 };
const large = new Uint8Array(64 * 1024 * 1024);

/** A bucket whose calls have a scaled-down time. */
function bucketAt(endpoint: string, times = answering): RemoteBucket {
  const http = createHttpTransport();
  onTestFinished(() => http.close());
  const place = { remote: "cluster", endpoint, region: "us-east-1", bucketName: "b", prefix: "" };
  const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
  const connection = new S3Connection({ ...place, limits: times }, credentials, http.send);
  const spool = { open: () => Promise.reject(new Error("unused")), remove: async () => {} };
  return new RemoteBucket({ connection, features: allFeatures, spool });
}

type Call = (bucket: RemoteBucket) => Promise<ServiceFailure | undefined>;

const execute =
  (request: Parameters<RemoteBucket["execute"]>[0]): Call =>
  async (bucket) => {
    const outcome = await bucket.execute(request);
    return outcome.ok ? undefined : outcome.failure;
  };

const listRequest = {
  prefix: "",
  delimiter: "",
  limit: 10,
  includeHttp: true,
  includeCustom: true,
};
const calls: Readonly<Record<string, Call>> = {
  head: execute({ method: "head", key: "a" }),
  get: (bucket) =>
    bucket.get({ key: "a" }).then(
      () => undefined,
      ({ failure }: { failure: ServiceFailure }) => failure,
    ),
  list: execute({ method: "list", ...listRequest }),
  put: execute({ method: "put", key: "a", content: contentOf("value"), ...description }),
  delete: execute({ method: "delete", keys: ["a"] }),
  "delete of many": execute({ method: "delete", keys: ["a", "b"] }),
  createUpload: execute({ method: "createUpload", key: "a", ...description }),
  completeUpload: execute({
    method: "completeUpload",
    key: "a",
    uploadId: "u",
    parts: [{ partNumber: 1, etag: "e" }],
  }),
};

/** A server that handles sockets by itself: services that are too slow. */
async function startSocketServer(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers with a head, and then with an octet at a time. */
function drips(length: number, milliseconds = 50): (socket: Socket) => void {
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\netag: "e"\r\nx-amz-request-id: id-1\r\n\r\n`;
  return (socket): void => {
    socket.once("data", (): void => {
      socket.write(head);
      const timer = setInterval(() => socket.write("x"), milliseconds);
      socket.once("close", () => clearInterval(timer));
    });
  };
}

describe("every call ends in its time, with its fields", () => {
  it.each(Object.entries(calls))("%s: the service never answers", async (name, call) => {
    const { endpoint, requests } = await startRawServer(() => null);
    const failure = await call(bucketAt(endpoint, limits));
    expect(failure?.reason).toBe("timeout");
    expect(requests.length).toBeGreaterThan(0);
    // Reads come before the requests of these writes, and executed nothing.
    const outcomes = ["unknown", "not executed"];
    expect(outcomes).toContain(failure?.outcome);
    expect(name).toBeTruthy();
  });

  it.each(Object.entries(calls))("%s: 429 with a long Retry-After", async (name, call) => {
    const { endpoint, requests } = await startRawServer(() =>
      raw(429, "", { "retry-after": "3600", "x-amz-request-id": "id-2" }),
    );
    // Nothing says that the write was not executed. The completion begins with a list of the parts.
    const isWrite = ["put", "delete", "delete of many", "createUpload"].includes(name);
    expect(await call(bucketAt(endpoint))).toEqual({
      outcome: isWrite ? "unknown" : "not executed",
      reason: "throttled",
      status: 429,
      requestId: "id-2",
      retryAfterSeconds: 3600,
    });
    // The object of a put and of a delete is read.
    expect(requests).toHaveLength(["put", "delete"].includes(name) ? 2 : 1);
  });

  it.each<[string, RawAnswer]>([
    ["the connection is lost", { text: "", ends: true }],
    ["500", rawError(500, "InternalError")],
    ["502", raw(502)],
    ["503", raw(503)],
    [
      "content that breaks off",
      { text: `${raw(200, "", { "content-length": "50", etag: '"1"' })}hello`, ends: true },
    ],
  ])("a read has executed nothing: %s", async (_, answer) => {
    const { endpoint } = await startRawServer(() => answer);
    const bucket = bucketAt(endpoint);
    for (const name of ["get", "list"]) {
      expect(await (calls[name] as Call)(bucket)).toMatchObject({ outcome: "not executed" });
    }
  });

  it.each(["get", "list"])("%s: an octet at a time", async (name) => {
    const endpoint = await startSocketServer(drips(1000));
    const failure = await (calls[name] as Call)(bucketAt(endpoint));
    const outcome = "not executed";
    expect(failure).toMatchObject({ outcome, reason: "timeout", requestId: "id-1" });
  });

  it("a stream: an octet at a time", async () => {
    const endpoint = await startSocketServer(drips(1_000_000));
    const found = await bucketAt(endpoint).get({ key: "a" });
    const content = found?.status === "found" ? (found.content as ReadableStream) : null;
    await expect(textOf(content)).rejects.toMatchObject({
      outcome: "not executed",
      reason: "timeout",
      status: 200,
      requestId: "id-1",
      message: expect.stringMatching(/only \d+ bytes arrived in 0\.4 s/) as string,
    });
  });

  it("a stream that breaks off", async () => {
    const head = raw(200, "", {
      "content-length": "1000000",
      etag: '"1"',
      "x-amz-request-id": "id-3",
    });
    const { endpoint } = await startRawServer(() => ({ text: `${head}hello`, ends: true }));
    const found = await bucketAt(endpoint).get({ key: "a" });
    const content = found?.status === "found" ? (found.content as ReadableStream) : null;
    const fields = { outcome: "not executed", reason: "unavailable", requestId: "id-3" };
    await expect(textOf(content)).rejects.toMatchObject(fields);
  });

  it("a put whose content is never read", async () => {
    const endpoint = await startSocketServer((socket) => socket.pause());
    const error = await failureOf(
      connectTo({ endpoint }, undefined, limits).send({ ...put, body: large }),
    );
    expect(error).toMatchObject({ outcome: "unknown", reason: "timeout" });
    expect(error.message).toMatch(/has taken \d+ bytes of the content, and hardly more for 0\.4 s/);
  });
});

it("the time of a call ends its repetitions", async () => {
  const { endpoint, requests } = await startRawServer(() => rawError(503, "ServiceUnavailable"));
  let now = 0;
  const options: S3ConnectionOptions = {
    ...answering,
    callMilliseconds: limits.callMilliseconds,
    now: () => now,
    random: () => 1,
    sleep: async (delay) => void (now += delay),
  };
  const error = await failureOf(connectTo({ endpoint }, undefined, options).send(get));
  expect(error).toMatchObject({ reason: "unavailable", status: 503 });
  // Pauses of 200, 400 and 800 ms: the third ends after the call.
  expect([requests.length, now]).toEqual([3, 600]);
});

it("a lost connection of a read is repeated at once, and counts as an attempt", async () => {
  const lost = { text: "", ends: true } as const;
  const { endpoint, requests } = await startRawServer(() => lost);
  const delays: number[] = [];
  const sleep = async (delay: number) => void delays.push(delay);
  const options = { sleep, random: () => 0.5 };
  await failureOf(connectTo({ endpoint }, undefined, options).send(get));
  expect(delays).toEqual([0, 200, 400, 800]);
  expect(requests).toHaveLength(5);
});

it.each([
  [rawError(403, "QuotaExceeded"), "space", /has no space left .*QuotaExceeded.*raise the quota/],
  [raw(507), "space", /has no space left .*status 507/],
  [rawError(403, "ExpiredToken"), "denied", /session token, which has expired \(ExpiredToken\)/],
  [rawError(400, "ExpiredToken"), "denied", /session token, which has expired \(ExpiredToken\)/],
  [rawError(403, "AccessDenied"), "denied", /denied access/],
  [rawError(501, "NotImplemented"), "unsupported", /does not support PUT with if-none-match:/],
  [rawError(500, "InternalError"), "unavailable", /failed with status 500/],
  [rawError(400, "InvalidArgument"), "refused", /answered with InvalidArgument/],
])("the fields of the answer %#", async (answer, reason, sentence) => {
  const { endpoint } = await startRawServer(() =>
    answer.replace("\r\n", "\r\nx-amz-request-id: id-4\r\n"),
  );
  const headers = { "if-none-match": "*" };
  const connection = connectTo({ endpoint });
  const error = await failureOf(connection.exchange({ ...put, headers }, 'store "a"'));
  expect(error).toMatchObject({ reason, requestId: "id-4" });
  expect(error.outcome).toBe(reason === "unavailable" ? "unknown" : "not executed");
  expect(error.message).toMatch(sentence);
});

/** Holds answers until so many requests have come, and for a moment, in which others would come. */
async function startHolding(capacity: number) {
  const held: ServerResponse[] = [];
  let most = 0;
  const server = createHttp((_, response) => {
    held.push(response);
    most = Math.max(most, held.length);
    if (held.length !== capacity) return;
    setTimeout(() => {
      for (const each of held.splice(0)) each.end("content");
    }, 100);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { endpoint, most: () => most };
}

describe("connections", () => {
  it("are as many as the setting says, and the others wait", async () => {
    const { endpoint, most } = await startHolding(3);
    const connection = connectTo({ endpoint }, undefined, { connections: 3 });
    const texts = Array.from({ length: 12 }, async () => textOf((await connection.send(get)).body));
    expect(await Promise.all(texts)).toEqual(Array.from({ length: 12 }, () => "content"));
    expect(most()).toBe(3);
  });

  it("with content that is not read do not block others for ever", async () => {
    const { endpoint } = await startRawServer(() =>
      raw(200, "x".repeat(1000), { "content-length": "10000000" }),
    );
    const connection = connectTo({ endpoint }, undefined, { connections: 2 });
    const unread = [await connection.send(get), await connection.send(get)];
    const third = await connection.send(get);
    expect(third.status).toBe(200);
    for (const { body } of [...unread, third]) await body?.cancel();
  });

  it("that are all at work end the wait with a sentence", async () => {
    const { endpoint, requests } = await startRawServer(() => null);
    const options = { ...limits, connections: 1, callMilliseconds: 300 };
    const connection = connectTo({ endpoint }, undefined, {
      ...options,
      answerMilliseconds: 60_000,
      callMilliseconds: 60_000,
    });
    const first = connection.send(put).catch(() => {});
    await expect.poll(() => requests.length).toBe(1);
    const other = connectTo({ endpoint }, undefined, options);
    const error = await failureOf(other.send(put));
    expect(error).toMatchObject({ outcome: "not executed", reason: "timeout" });
    expect(error.message).toMatch(
      /has waited for 0\.3 s, while 1 others were under way, and was not sent.*raise connections/,
    );
    void first;
  });

  it.each(["2026-08-01", "2023-01-01"])(
    "of requests of a runtime with the date %s are capped, too",
    async (compatibilityDate) => {
      const folder = mkdtempSync(join(tmpdir(), "ledge-remote-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const runtime = await startRemoteRuntime(folder, compatibilityDate);
      onTestFinished(() => runtime.stop());
      const { endpoint, most } = await startHolding(3);
      const place = { remote: "c", region: "us-east-1", bucketName: "photos", prefix: "" };
      const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
      const answers = Array.from({ length: 12 }, () =>
        runtime.send({
          place: { ...place, endpoint },
          credentials,
          method: "GET",
          key: "a",
          connections: 3,
        }),
      );
      const texts = (await Promise.all(answers)).map(({ text, error }) => error?.message ?? text);
      expect(texts).toEqual(Array.from({ length: 12 }, () => "content"));
      expect(most()).toBe(3);
    },
  );
});

describe("in workerd", () => {
  const place = { remote: "c", region: "us-east-1", bucketName: "photos", prefix: "" };
  const credentials = { accessKeyId: "id", secretAccessKey: "secret" };

  it.each([
    [
      "content at an octet a time",
      { method: "GET" },
      drips(1_000_000),
      /only \d+ bytes arrived|no content/,
    ],
    [
      "content that is never taken",
      { method: "PUT", streamBytes: large.length },
      (socket: Socket): void => void socket.pause(),
      /has taken \d+ bytes of the content/,
    ],
  ] as const)("%s ends", async (_, sent, onConnection, sentence) => {
    const folder = mkdtempSync(join(tmpdir(), "ledge-remote-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const runtime = await startRemoteRuntime(folder);
    onTestFinished(() => runtime.stop());
    const endpoint = await startSocketServer(onConnection);
    const { error } = await runtime.send({
      place: { ...place, endpoint },
      credentials,
      key: "a",
      ...sent,
      idleMilliseconds: 400,
    });
    expect(error).toMatchObject({ failure: "unknown", reason: "timeout" });
    expect(error?.message).toMatch(sentence);
  });
});

/** Before a service: passes requests on, until a test replaces the answers. */
async function startGateway(target: number) {
  let answer: ((response: ServerResponse) => void) | null = null;
  const server = createHttp((request, response) => {
    if (answer !== null) {
      request.resume();
      return answer(response);
    }
    const { method, url, headers } = request;
    const passed = sendHttp({ host: "127.0.0.1", port: target, method, path: url, headers });
    passed.on("response", (answered) => {
      response.writeHead(answered.statusCode as number, answered.headers);
      answered.pipe(response);
    });
    passed.on("error", () => response.destroy());
    request.pipe(passed);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answerWith: (replaced: (response: ServerResponse) => void) => void (answer = replaced),
  };
}

it("a script, and a program in Node, see the fields of an error", async () => {
  expectTypeOf<ServiceFailure>().toEqualTypeOf<Omit<StoreServiceError, keyof Error>>();
  const service = await startS3({
    stateFolder: temporaryFolder(),
    buckets: [{ name: "photos" }],
    port: 0,
  });
  onTestFinished(() => service.close());
  const gateway = await startGateway(service.port);
  const { accessKeyId, secretAccessKey } = service.credentials;
  const keys = { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
  const remote = { name: "cluster", endpoint: gateway.url, ...keys, answer_timeout: 5 };
  const entry = bucketEntry({ bucket_name: "photos", remote });
  const script = `export default { async fetch(request, { BUCKET }) {
    const fieldsOf = async (work) => {
      try { await work(); return null; } catch (error) { return { ...error, message: error.message }; }
    };
    const large = (await BUCKET.get("large")).body;
    return Response.json([
      await fieldsOf(() => BUCKET.put("k", "v")),
      await fieldsOf(() => new Response(large).arrayBuffer()),
    ]);
  } };`;
  const miniflare = new Miniflare({
    resourcePersistencePath: temporaryFolder(),
    workers: [worker(script, { env: { BUCKET: entry } })],
  });
  onTestFinished(() => miniflare.dispose());
  const { BUCKET } = await miniflare.getBindings<{ BUCKET: StoreBucket }>();
  await BUCKET.put("k", "first");
  gateway.answerWith((response) => {
    const headers = { "retry-after": "900", "x-amz-request-id": "id-5" };
    response.writeHead(429, headers).end();
  });
  const fields = {
    outcome: "not executed",
    reason: "throttled",
    status: 429,
    requestId: "id-5",
    retryAfterSeconds: 900,
  };
  await expect(BUCKET.put("k", "v")).rejects.toMatchObject({ ...fields, outcome: "unknown" });
  await expect(BUCKET.get("k")).rejects.toMatchObject(fields);
  await expect(BUCKET.put("k", "v")).rejects.not.toHaveProperty("cause");
  const body = Buffer.alloc(200_000);
  let answered = 0;
  gateway.answerWith((response) => {
    if (answered++ > 0) return void response.writeHead(429, { "retry-after": "900" }).end();
    const headers = { "content-length": "1000000", etag: '"e"', "x-amz-request-id": "id-6" };
    response.writeHead(200, headers).write(body, () => setTimeout(() => response.destroy(), 100));
  });
  const answer = await (await miniflare.dispatchFetch("http://script/")).json();
  expect(answer).toEqual([
    {
      ...fields,
      outcome: "unknown",
      requestId: undefined,
      message: expect.stringMatching(/^put: .*900 s.*\(10001\)$/),
    },
    expect.objectContaining({
      outcome: "not executed",
      reason: "unavailable",
      requestId: "id-6",
    }),
  ]);
});
