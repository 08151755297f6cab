/**
 * The endpoint: how other processes on this machine reach the buckets of a running runtime.
 *
 * A bucket's database belongs to one runtime at a time. Whoever else wants something of the bucket
 * (the command line, another runtime on the same folder) asks that runtime, here. The port and the
 * secret are in the runtime's note, which only its user may read (`base/run-record.ts`); a page in a
 * browser has no secret, and gets nothing.
 *
 *     GET  /                 the runId of the runtime: who answers
 *     POST /execute/BUCKET   a frame of operations, answered by a frame of outcomes
 *     POST /put/BUCKET       content of any size; what it is stands in a header
 *     POST /part/BUCKET      a part of an upload, likewise
 *     POST /get/BUCKET       a frame, answered by the object and its content behind it
 *     POST /copy/BUCKET      an object into this bucket from another, without leaving the runtime
 *     POST /collect/BUCKET   what crashes left is removed
 *     GET  /database/BUCKET  the name of the bucket's database
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import type { BucketObject } from "../bucket/bucket-object.ts";
import { writeFramedAnswer } from "../binding/framed-answer-writer.ts";
import { BucketClient } from "../client/bucket-client.ts";
import type { GetRequest, PartRequest, PutRequest } from "../client/bucket-calls.ts";
import { decodeFrame, encodeFrame } from "../client/frame.ts";
import type { Operation } from "../core/operations.ts";
import type { CopyRequest } from "./protocol.ts";
import { requestHeader } from "./protocol.ts";

interface EndpointEnv {
  readonly buckets: DurableObjectNamespace<BucketObject>;
  readonly blobs: Fetcher;
  readonly joiner: Fetcher;
  readonly runId: string;
  readonly secret: string;
}

export class LedgeStoreEndpoint extends WorkerEntrypoint<EndpointEnv> {
  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get("authorization") !== `Bearer ${this.env.secret}`) {
      await request.body?.cancel();
      return new Response("Not for you.", { status: 403 });
    }
    const [action = "", bucketName = ""] = new URL(request.url).pathname.slice(1).split("/");
    try {
      return await this.#answer(action, bucketName, request);
    } catch (error) {
      // What is left of a body that nobody reads would keep the connection from being used again.
      await request.body?.cancel(error).catch(() => {});
      return Response.json({ message: (error as Error).message }, { status: 422 });
    }
  }

  async #answer(action: string, bucketName: string, request: Request): Promise<Response> {
    const body = <Value>() => request.arrayBuffer().then((buffer) => decodeFrame<Value>(buffer));
    switch (action) {
      case "":
        return new Response(this.env.runId);
      case "execute": {
        const operations = await body<Operation[]>();
        const outcomes = await this.env.buckets.getByName(bucketName).execute(operations);
        return new Response(encodeFrame(outcomes));
      }
      case "get":
        return this.#client(bucketName).get(
          await body<GetRequest>(),
          (opened) => new Response(writeFramedAnswer(opened)),
        );
      case "put":
        return Response.json(
          await this.#client(bucketName).put({
            ...described<Omit<PutRequest, "value">>(request),
            value: streamed(request),
          }),
        );
      case "part":
        return Response.json(
          await this.#client(bucketName).uploadPart({
            ...described<Omit<PartRequest, "value">>(request),
            value: streamed(request),
          }),
        );
      case "copy":
        return Response.json(await this.#copy(bucketName, await body()));
      case "collect":
        return Response.json(await this.env.buckets.getByName(bucketName).collectGarbage());
      case "database":
        return new Response(this.env.buckets.idFromName(bucketName).toString());
      default:
        return new Response("There is no such thing.", { status: 404 });
    }
  }

  /** `null` when there is nothing to copy. */
  async #copy(bucketName: string, { from, key, ...changes }: CopyRequest): Promise<unknown> {
    const request: GetRequest = { key: from.key };
    const opened = await this.#client(from.bucketName).get(request, (object) => object);
    if (opened === null || opened.status !== "found") return null;
    const { object, content } = opened;
    const [algorithm, hex] =
      Object.entries(object.checksums).find(([name]) => name !== "md5") ?? [];
    return this.#client(bucketName).put({
      key,
      value:
        content instanceof ArrayBuffer
          ? { bytes: new Uint8Array(content) }
          : { stream: content, length: object.size },
      http: object.http ?? {},
      custom: object.custom ?? {},
      storageClass: object.storageClass,
      ...(algorithm !== undefined && { checksum: { algorithm, hex } as PutRequest["checksum"] }),
      ...changes,
    } as PutRequest);
  }

  #client(bucketName: string): BucketClient {
    const { buckets, blobs, joiner, runId } = this.env;
    return new BucketClient({
      buckets,
      blobs,
      joiner,
      bucketName,
      runId,
      rpc: true,
      latencyMilliseconds: 0,
    });
  }
}

/** What is said of the content, in a header: text may hold what headers may not. */
function described<Description>(request: Request): Description {
  const text = atob(request.headers.get(requestHeader) ?? "");
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as Description;
}

function streamed(request: Request): { stream: ReadableStream; length: number } {
  return {
    stream: request.body as ReadableStream,
    length: Number(request.headers.get("content-length")),
  };
}
