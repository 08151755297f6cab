/** What the handlers of the explorer work with, and the routes that lead to them. */
import type { StorageClass } from "../../store/core/operations.ts";
import type { StoreClient } from "../../store/node/store-client.ts";
import type { ProjectInfo } from "../api/project.ts";
import type { ActivityLog, ChangeFeed } from "./activity-log.ts";
import type { DnsAccess } from "./dns-follower.ts";
import type { ExplorerRequest, ExplorerResponse } from "./call.ts";
import type { StoreFaults } from "./faults.ts";
import type { StoreTasks } from "./store-tasks.ts";

export interface ExplorerContext {
  readonly store: StoreClient;
  /** The class of a bucket's objects that are stored without one. */
  readonly storageClassOf: (bucketName: string) => StorageClass;
  /** The bindings that lead to a bucket, by its name. */
  readonly bindings: () => ReadonlyMap<string, readonly string[]>;
  readonly project: () => Promise<Omit<ProjectInfo, "s3" | "version">>;
  /** The S3-compatible API, for links; `null` while there is none. */
  readonly s3: () => S3Signer | null;
  /** Starts DNS if DNS starts on demand; `null` when the project has no DNS. */
  readonly dns: () => Promise<DnsAccess | null>;
  /** `null` while DNS does not run. */
  readonly runningDns: () => Promise<DnsAccess | null>;
  readonly tasks: StoreTasks;
  readonly activity: ActivityLog;
  readonly changes: ChangeFeed;
  readonly faults: StoreFaults;
}

export interface ExplorerCall extends ExplorerRequest {
  readonly context: ExplorerContext;
}

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Segments that begin with a colon are parameters: `/api/buckets/:bucket/object`. */
  readonly path: string;
  /** @throws CallError, StoreError, UserError */
  handle(call: ExplorerCall): Promise<ExplorerResponse>;
}

export interface S3Signer {
  readonly url: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}
