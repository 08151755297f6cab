/**
 * The endpoint: how other processes on this machine reach the buckets of the owner's runtime.
 *
 * One runtime at a time owns the database of a bucket. Other processes (the command line, another
 * runtime on the same folder) send their requests to the owner's endpoint, a Unix socket in a folder
 * that only the same user can enter (`state/sockets.ts`). A page in a browser cannot connect.
 *
 * A client repeats a request whose answer was lost, at the same owner or at the next. So a request
 * has an id, and its writes happen once (`state/outcomes.ts`).
 *
 *     GET  /                 the run id of the runtime
 *     POST /execute/BUCKET   a frame of operations, answered by a frame of outcomes
 *     GET  /channel/BUCKET   a WebSocket to the bucket (`bucket/bucket-service.ts`)
 *     POST /open             opens the buckets of the run
 *     POST /collect/BUCKET   removes the files that crashes left
 *     POST /restore/BUCKET   a frame with a step of a restoration (`bucket/restoration.ts`)
 *     GET  /calls            the last calls (`bucket/call-recorder.ts`)
 *     GET  /faults           a WebSocket that holds faults (`bucket/held-faults.ts`)
 *
 * A header names the program that sends a request (`client/message.ts`).
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import { databaseUrl, type DiskBindings } from "./bucket-disk.ts";
import { fileExists } from "../../state/disk.ts";
import { awakeBuckets, type BucketObject } from "./bucket-object.ts";
import { callRecorder, recorded } from "./call-recorder.ts";
import type { BucketAccess } from "../client/bucket-client.ts";
import { senderTo } from "../client/batch.ts";
import {
  clientHeader,
  type FaultsReport,
  type FaultsRequest,
  type FollowedCalls,
  decodeFrame,
  encodeFrame,
  requestIdHeader,
} from "../client/message.ts";
import type { Operation, RestorationStep } from "../core/operations.ts";
import { acceptSocket } from "./bucket-service.ts";
import { heldFaults } from "./held-faults.ts";
import { storeClock } from "./test-session.ts";

interface EndpointEnv
  extends Pick<BucketAccess, "blobs" | "joiner" | "disk" | "runId">, DiskBindings {
  readonly buckets: DurableObjectNamespace<BucketObject>;
  readonly bucketNames: readonly string[];
}

export class LedgeStoreEndpoint extends WorkerEntrypoint<EndpointEnv> {
  override async fetch(request: Request): Promise<Response> {
    const [action = "", bucketName = ""] = new URL(request.url).pathname.slice(1).split("/");
    try {
      return await this.#answer(action, bucketName, request);
    } catch (error) {
      // A connection with an unread body cannot be reused.
      await request.body?.cancel(error).catch(() => {});
      return Response.json({ message: (error as Error).message }, { status: 422 });
    }
  }

  async #answer(action: string, bucketName: string, request: Request): Promise<Response> {
    const body = <Value>() => request.arrayBuffer().then((buffer) => decodeFrame<Value>(buffer));
    const requestId = request.headers.get(requestIdHeader) ?? undefined;
    const clientName = request.headers.get(clientHeader) ?? "";
    const sent = { bucketName, requestId, clientName };
    const caller = { client: clientName, bucketName };
    switch (action) {
      case "":
        return new Response(this.env.runId);
      case "execute": {
        const operations = await body<Operation[]>();
        const sender = senderTo({ ...this.env, ...sent });
        const execute = recorded((batch) => sender.send(batch), caller);
        return new Response(encodeFrame(await execute(operations)));
      }
      case "channel":
        return this.env.buckets.getByName(bucketName).fetch(request);
      case "calls":
        return Response.json(this.#calls(new URL(request.url).searchParams));
      case "open":
        await Promise.all(this.env.bucketNames.map((name) => this.#open(name)));
        return new Response();
      case "collect":
        return Response.json(await this.env.buckets.getByName(bucketName).collectGarbage());
      case "restore": {
        const step = await body<RestorationStep>();
        return Response.json(await this.env.buckets.getByName(bucketName).restore(step));
      }
      case "faults":
        return holdFaults(() => this.#housekeep());
      default:
        return new Response("The endpoint has no such path.", { status: 404 });
    }
  }

  /** Does nothing for a bucket without a database: the first write creates the database. */
  async #open(bucketName: string): Promise<void> {
    const { buckets, databases } = this.env;
    const id = buckets.idFromName(bucketName);
    if (await fileExists(databases, databaseUrl(this.env, id))) await buckets.get(id).open();
  }

  /** A follower that has asked another runtime has no calls of this one. */
  #calls(asked: URLSearchParams): FollowedCalls {
    const { runId } = this.env;
    const after = asked.get("run") === runId ? Number(asked.get("after")) : 0;
    return callRecorder.answer(runId, asked.has("run") ? after : null);
  }

  async #housekeep(): Promise<void> {
    const { buckets } = this.env;
    await Promise.all(Array.from(awakeBuckets, (name) => buckets.getByName(name).housekeep()));
  }
}

/**
 * A WebSocket that holds faults: they are in force while the connection is open.
 *
 * A move of the clock is answered when the buckets that are awake have done what has become due, such
 * as the expiry of uploads. The end of the connection moves the clock back; uploads that have expired
 * stay expired.
 *
 * @param housekeep does the work of all buckets that has become due
 * @returns the response to the request for an upgrade
 */
function holdFaults(housekeep: () => Promise<void>): Response {
  const held = heldFaults.add();
  const answer = async (data: ArrayBuffer): Promise<Uint8Array> => {
    const { hold } = JSON.parse(new TextDecoder().decode(data)) as FaultsRequest;
    if (hold !== undefined && heldFaults.replace(held, hold)) await housekeep();
    const hits = held.faults.map((fault) => fault.hits);
    const unused = held.faults.flatMap((fault) => fault.unused ?? []);
    const { injected } = held;
    const report: FaultsReport = { hits, unused, injected, storeTime: storeClock.now() };
    return new TextEncoder().encode(JSON.stringify(report));
  };
  let answered: Promise<unknown> = Promise.resolve();
  return acceptSocket(
    (data) => {
      const next = answered.then(() => answer(data));
      answered = next.catch(() => {});
      return next;
    },
    () => heldFaults.remove(held),
  );
}
