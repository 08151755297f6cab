/** The store of a project, open for one command. */
import { mkdirSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { bucketFolder } from "../../store/core/blob-name.ts";
import { EndpointBucket } from "../../store/node/endpoint-bucket.ts";
import { OwnerConnection } from "../../store/node/owner-connection.ts";
import { withCleanup } from "../cleanup.ts";
import type { Invocation } from "../command.ts";
import { findBucket, type KnownBucket } from "./known-buckets.ts";
import { findProject, type StoreProject } from "./project.ts";

export interface OpenStore {
  readonly project: StoreProject;
  /**
   * @param word the name of a bucket or of its binding
   * @throws NotFoundError for a bucket that is neither configured nor on disk
   */
  readonly bucket: (word: string) => EndpointBucket & { readonly known: KnownBucket };
}

export async function withStore<Result>(
  invocation: Invocation,
  work: (store: OpenStore) => Promise<Result>,
): Promise<Result> {
  const project = findProject(invocation);
  const connection = new OwnerConnection(project);
  const bucket = (word: string) => {
    const known = findBucket(project.buckets, word);
    // The folder makes the bucket known to commands that run without this configuration.
    mkdirSync(blobFolder(project, known.bucketName), { recursive: true });
    return Object.assign(new EndpointBucket(connection, known.bucketName), { known });
  };
  return withCleanup(
    () => work({ project, bucket }),
    () => connection.close(),
  );
}

export function blobFolder({ folder }: StoreProject, bucketName: string): string {
  return join(folder, "blobs", bucketFolder(bucketName));
}

/** The files of a folder. A file that disappears meanwhile is left out. */
export async function filesIn(folder: string): Promise<{ name: string; bytes: number }[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.map(async (name) => {
    const found = await stat(join(folder, name)).catch(() => null);
    return found?.isFile() === true ? [{ name, bytes: found.size }] : [];
  });
  return (await Promise.all(files)).flat();
}
