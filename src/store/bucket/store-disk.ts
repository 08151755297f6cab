/**
 * The store's disk, for clients whose bucket does not answer: workerd opens the database before the
 * bucket object exists. To open a database takes space, so on a full disk a request gives up the
 * reserve, and then the bucket opens. If the disk is in order, the database is damaged.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import { problemOf } from "../../state/disk.ts";
import type { DiskQuestion } from "../core/operations.ts";
import { databasePath, storeSpace, unreadableText, type DiskBindings } from "./bucket-disk.ts";

interface StoreDiskEnv extends DiskBindings {
  readonly buckets: DurableObjectNamespace;
  /** In the runtime of a client: the buckets are in the runtime of the owner. */
  readonly owner?: Fetcher;
}

export class StoreDisk extends WorkerEntrypoint<StoreDiskEnv> {
  /** Answers what to tell callers, or `null`. */
  override async fetch(request: Request): Promise<Response> {
    const { bucketName, bytes } = await request.json<DiskQuestion>();
    const space = storeSpace(this.env);
    const problem = await space.findProblem(bytes);
    if (space.isFull) await space.releaseReserve();
    if (problem !== null || this.env.owner !== undefined) return Response.json(problem);
    const path = databasePath(this.env, this.env.buckets.idFromName(bucketName));
    return Response.json(problemOf(unreadableText(bucketName, path)));
  }
}
