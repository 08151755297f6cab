/** The options of the server for a project: its buckets, its credentials and its rules. */
import { join } from "node:path";
import { stateFolder } from "../../state/folder.ts";
import type { BucketBinding } from "../../store/config/store-buckets.ts";
import type { ProjectS3 } from "./s3-table.ts";
import type { CorsRule } from "../cors-rules.ts";
import type { S3BucketOptions, StartS3Options } from "./start-s3.ts";

export interface ProjectS3Options {
  /** Replaces the port of the configuration. */
  readonly port?: number;
  /** Replaces the state folder beside the configuration file. */
  readonly persistTo?: string;
}

/** What the server needs of a project. */
interface ServedProject {
  /** The path of the configuration file; `null` without a file. */
  readonly path: string | null;
  readonly folder: string;
  readonly buckets: readonly BucketBinding[];
  readonly s3: ProjectS3;
}

/** @param config a function, because the configuration may change while the server runs */
export function projectS3Options(
  config: () => ServedProject,
  options: ProjectS3Options,
): StartS3Options {
  const { folder, path, s3 } = config();
  return {
    stateFolder: stateFolder(folder, options.persistTo),
    buckets: () => {
      const current = config();
      const used = current.buckets.map(({ bucketName, previewBucketName, ...bucket }) => ({
        ...bucket,
        bucketName: previewBucketName ?? bucketName,
      }));
      return servedBuckets(used, current.s3.cors);
    },
    configFile: path ?? join(folder, "wrangler.jsonc"),
    hosts: s3.hosts,
    port: options.port ?? s3.port,
    credentials: s3.credentials,
  };
}

/** A bucket that several bindings name is public if one of them says so. */
export function servedBuckets(
  bindings: readonly Pick<BucketBinding, "bucketName" | "public" | "remote">[],
  rules: ProjectS3["cors"],
): S3BucketOptions[] {
  const byName = new Map<string, S3BucketOptions>();
  for (const { bucketName: name, public: isPublic, remote } of bindings) {
    const cors: CorsRule[] = rules.filter(({ bucket = name }) => bucket === name);
    byName.set(name, {
      name,
      public: isPublic === true || byName.get(name)?.public === true,
      cors,
      remote,
    });
  }
  return [...byName.values()];
}
