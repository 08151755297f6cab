/** What the page shows in its frame: the project, and what it is connected to. `GET /api/project` */
export interface ProjectInfo {
  /** The name of the script, or of the folder. */
  readonly name: string;
  /** The version of Ledge. */
  readonly version: string;
  /** The state folder, as a person would name it. */
  readonly stateFolder: string;
  /** The URL of the script; `null` without a dev server. */
  readonly scriptUrl: string | null;
  /** Links to the names of routes and public buckets that lead to the dev server. */
  readonly links: readonly string[];
  /** wrangler's page for KV, D1 and Durable Objects; `null` when the script has none of them. */
  readonly wranglerUrl: string | null;
  /** The S3-compatible API, with the keys that its clients sign with; `null` while there is none. */
  readonly s3: S3Access | null;
  /** `null` when the project has no DNS. */
  readonly dns: DnsInfo | null;
  /** Whether the requests of the script are observed, which needs a dev server. */
  readonly hasRequests: boolean;
}

export type S3Access = {
  readonly url: string;
  readonly accessKeyId: string;
} & (
  | { /** Made by Ledge. */ readonly secretAccessKey: string }
  | { /** Where the user keeps a secret. */ readonly secretPlace: string }
);

export interface DnsInfo {
  /** The URL of the record API, without a path. */
  readonly apiUrl: string;
  /** Where the name server listens over UDP and TCP: `127.0.0.1:8053`. */
  readonly addresses: readonly string[];
}

/** The body of every response with a status of 400 or above. */
export interface ApiFailure {
  /** What happened, why, and what to do. */
  readonly message: string;
  /** The code of the store, if the store refused the call. */
  readonly code?: number;
}
