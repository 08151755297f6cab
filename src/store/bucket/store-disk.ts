/**
 * The store's disk, for clients that cannot ask a bucket: to open a database takes space, too, so
 * on a full disk a bucket that is not open yet cannot answer. A request gives up the reserve, and
 * then the bucket opens.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import { storeSpace, type DiskBindings } from "./bucket-disk.ts";

export class StoreDisk extends WorkerEntrypoint<DiskBindings> {
  /** The body of the request is the size of the write that failed; the answer is a text or `null`. */
  override async fetch(request: Request): Promise<Response> {
    const space = storeSpace(this.env);
    const problem = await space.findProblem(Number(await request.text()));
    if (space.isFull) await space.releaseReserve();
    return Response.json(problem);
  }
}
