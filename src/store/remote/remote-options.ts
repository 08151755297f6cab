/**
 * A bucket on an S3 service, as its configuration describes it, and what the service honours. Services
 * differ, and some ignore a condition silently, so the probe (`probe.ts`) tries each feature instead of
 * asking for a version.
 */

export interface RemoteCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Keys that can change while they are used. */
export interface KeySource {
  /** @throws RemoteError when there are no keys */
  current(): Promise<RemoteCredentials>;
  /**
   * Looks for other keys, because the service refused these.
   *
   * @returns whether there are others
   */
  renew(refused: RemoteCredentials): Promise<boolean>;
}

/** Where a bucket is. Without secrets: this part stands in files. */
export interface RemotePlace {
  /** Where they differ from `remoteLimits`. */
  readonly limits?: Partial<RemoteLimits>;
  /** The name of the table `[remotes.NAME]`, for messages. */
  readonly remote: string;
  /** `https://s3.example.net`, without a path. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucketName: string;
  /** Begins each key of the service's bucket. */
  readonly prefix: string;
}

/** The bounds of requests. The shipped proxies wait for 60 s, and a call of a script ends before that. */
export const remoteLimits = {
  /** Requests under way at a time, of all buckets of the service in a runtime. */
  connections: 128,
  /** For a free connection, the connection, and the head of an answer. */
  answerMilliseconds: 20_000,
  /** For each 64 KiB of content, in both directions. */
  idleMilliseconds: 10_000,
  /** For a whole call with its requests, repetitions and pauses, but for content that is on its way. */
  callMilliseconds: 45_000,
};
export type RemoteLimits = typeof remoteLimits;

export interface RemoteAccess extends RemotePlace {
  readonly credentials: RemoteCredentials;
  readonly accept: readonly RemoteGap[];
}

export function remoteVariables(remote: string) {
  const begin = `LEDGE_REMOTE_${remote.toUpperCase().replaceAll("-", "_")}`;
  return {
    accessKeyId: `${begin}_ACCESS_KEY_ID`,
    secretAccessKey: `${begin}_SECRET_ACCESS_KEY`,
    sessionToken: `${begin}_SESSION_TOKEN`,
  };
}

/** What may not hold at an endpoint: the words of `accept` in the configuration. */
export const remoteGaps = [
  "conditional-put",
  "conditional-complete",
  "conditional-delete",
] as const;
export type RemoteGap = (typeof remoteGaps)[number];

export interface RemoteFeatures {
  /** How `If-Match` of a put names an entity tag; `null` when the service ignores it. */
  readonly putIfMatch: "quoted" | "unquoted" | null;
  /** `If-None-Match: *` of a put. */
  readonly putIfNoneMatch: boolean;
  /** Completions compare and write in one step. */
  readonly conditionalComplete: boolean;
  /** Deletes compare and delete in one step. */
  readonly conditionalDelete: boolean;
  /**
   * The form in which a put without a condition holds beside conditional puts: with the condition that the object has
   * another entity tag than one that no object has, or as it is. `null`: in neither form.
   */
  readonly unconditionalPut: "plain" | "unequal tag" | null;
  /** Whether a delete without a condition holds beside conditional puts. */
  readonly unconditionalDelete: boolean;
  /** Whether the entity tag of an object that was put is the MD5 of its content: not where the service encrypts. */
  readonly etagIsMd5: boolean;
  readonly service: RemoteService;
  /** What does not hold, and what was seen. */
  readonly seen: Readonly<Partial<Record<RemoteGap, string>>>;
}

/** Which service was asked: with another one, what was found is not valid. */
export interface RemoteService {
  /** The header `Server`; empty for none. */
  readonly server: string;
  readonly versioning: "enabled" | "suspended" | "off" | "unknown";
}

/** For a bucket that is only read. */
export const noFeatures: RemoteFeatures = {
  putIfMatch: null,
  putIfNoneMatch: false,
  conditionalComplete: false,
  conditionalDelete: false,
  unconditionalPut: null,
  unconditionalDelete: false,
  etagIsMd5: false,
  service: { server: "", versioning: "unknown" },
  seen: {},
};

/** What does not hold, in the order of `remoteGaps`. */
export function gapsOf({ seen }: RemoteFeatures): RemoteGap[] {
  return remoteGaps.filter((gap) => seen[gap] !== undefined);
}
