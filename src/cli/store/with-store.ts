/** What the commands of the store have in common: they find it, use it, and leave it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { bucketFolder } from "../../store/core/blob-name.ts";
import type { Invocation } from "../command.ts";
import { EndpointBucket } from "../../store/node/endpoint-bucket.ts";
import type { KnownBucket } from "./known-buckets.ts";
import { bucketOf, findProject, type StoreProject } from "./project.ts";
import { OwnerConnection } from "../../store/node/owner-connection.ts";

export interface OpenStore {
  readonly project: StoreProject;
  /** @throws NotFoundError when nobody knows of it */
  bucket(word: string): EndpointBucket & { readonly known: KnownBucket };
}

export async function withStore<Result>(
  { options }: Invocation,
  work: (store: OpenStore) => Promise<Result>,
): Promise<Result> {
  const project = findProject(options);
  const session = new OwnerConnection(project);
  const stop = (signal: NodeJS.Signals): void => {
    // The runtime must not outlive the command.
    void session.close().finally(() => process.exit(signal === "SIGINT" ? 130 : 143));
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    return await work({
      project,
      bucket(word) {
        const known = bucketOf(project, word);
        // So that others find it who do not have the configuration.
        const folder = join(project.folder, "blobs", bucketFolder(known.bucketName));
        mkdirSync(folder, { recursive: true });
        return Object.assign(new EndpointBucket(session, known.bucketName), { known });
      },
    });
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    await session.close();
  }
}

/** Prints what was asked for: as JSON if so asked, as text otherwise. */
export function print({ options }: Invocation, value: unknown, text: string): void {
  const isJson = options["json"] === true;
  if (!isJson && text === "") return;
  process.stdout.write(`${isJson ? JSON.stringify(value) : text}\n`);
}

export function textOption({ options }: Invocation, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}
