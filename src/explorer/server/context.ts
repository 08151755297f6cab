/** What the handlers of the explorer work with. */
import type { StoreClient } from "../../store/node/store-client.ts";
import type { DnsInfo, ProjectInfo } from "../api/project.ts";
import type { ActivityLog } from "./activity-log.ts";
import type { ConditionsControl } from "./conditions-control.ts";
import type { Tasks } from "./tasks.ts";

export interface ExplorerContext {
  readonly store: StoreClient;
  /** The bindings that lead to a bucket, by its name. */
  readonly bindings: () => ReadonlyMap<string, readonly string[]>;
  readonly project: () => Promise<ProjectInfo>;
  /** The S3-compatible API, for links; `null` while there is none. */
  readonly s3: () => S3Signer | null;
  /** Starts DNS if DNS starts on demand; `null` when the project has no DNS. */
  readonly dns: () => Promise<DnsAccess | null>;
  /** `null` while DNS does not run. */
  readonly runningDns: () => Promise<DnsAccess | null>;
  readonly tasks: Tasks;
  readonly activity: ActivityLog;
  readonly conditions: ConditionsControl;
}

export interface S3Signer {
  readonly url: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export interface DnsAccess extends DnsInfo {
  /** The headers that give access to the record API, and name the explorer. */
  readonly headers: Readonly<Record<string, string>>;
}
