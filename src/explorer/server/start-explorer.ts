/** Serves the explorer of a state folder. */
import { randomBytes } from "node:crypto";
import { basename, join } from "node:path";
import { packageVersion } from "../../base/package-version.ts";
import { listenAtFreePort } from "../../base/ports.ts";
import { readOrMakeFile } from "../../base/private-files.ts";
import { UserError } from "../../base/user-error.ts";
import type { ProjectConfig } from "../../config/read-config.ts";
import { clientHeader } from "../../dns/rules/api-call.ts";
import type { S3Access } from "../../s3/s3-table.ts";
import { findServer, readOrMakeCredentials, recordServer } from "../../s3/state-files.ts";
import type { FolderStateOptions } from "../../saved/folder-state.ts";
import type { StateControl } from "../../saved/state-control.ts";
import { explain, persistPath, pluginFolder } from "../../state/folder.ts";
import { usedRemotes, type ProjectRemote } from "../../store/config/remotes.ts";
import type { StorageClass } from "../../store/core/operations.ts";
import { StoreClient } from "../../store/node/store-client.ts";
import type { ProjectInfo } from "../api/project.ts";
import { ActivityLog, activityRoutes, ChangeFeed } from "./activity-log.ts";
import { ActivitySources } from "./activity-sources.ts";
import { bucketRoutes } from "./buckets.ts";
import { json, type DnsAccess, type ExplorerContext, type Route } from "./call.ts";
import { ExplorerServer } from "./explorer-server.ts";
import { faultRoutes, StoreFaults } from "./faults.ts";
import { objectRoutes } from "./object-calls.ts";
import { connectState } from "./state-client.ts";
import { stateRoutes } from "./state.ts";
import { StoreTasks, taskRoutes } from "./tasks.ts";
import { zoneRoutes } from "./zones.ts";

const defaultPort = 8790;
const host = "127.0.0.1";
const tokenBytes = 16;

export interface ExplorerBucketOptions {
  readonly name: string;
  /** The S3 service that has the bucket. Default: the bucket is in the state folder. */
  readonly remote?: ProjectRemote;
  /** The class of objects that are stored without one. Default: Standard */
  readonly storageClass?: StorageClass;
}

type ConfiguredBucket = string | ExplorerBucketOptions;

export interface StartExplorerOptions {
  /** The state folder, as `--persist-to` names it. */
  readonly stateFolder: string;
  /** The configured buckets, or their names; a function if they may change. */
  readonly buckets?: readonly ConfiguredBucket[] | (() => readonly ConfiguredBucket[]);
  /** The path of the configuration, for messages. */
  readonly configFile?: string;
  /** Default: 8790, or the next free port. 0: any free port. */
  readonly port?: number;
  /** Receives errors that no page has caused. Default: `console.error` */
  readonly onError?: (error: unknown) => void;
}

/** What a dev server and the command line know, and a folder alone does not say. */
export interface ExplorerParts extends Partial<
  Pick<ExplorerContext, "bindings" | "project" | "s3" | "dns">
> {
  /** `null` while DNS does not run. */
  readonly runningDns?: () => Promise<DnsAccess | null>;
  readonly activity?: ActivityLog;
  readonly changes?: ChangeFeed;
  /** Default: faults that end with the explorer. */
  readonly faults?: StoreFaults;
  /** Of a dev server: other processes find the explorer, and save and restore by it. */
  readonly state?: StateControl;
  /** Of a folder without a dev server. Default: names of buckets, and no seed. */
  readonly folderState?: () => FolderStateOptions;
}

export interface RunningExplorer {
  /** The address, with the token, which gives access. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** @throws UserError */
export function startExplorer(options: StartExplorerOptions): Promise<RunningExplorer> {
  return serveExplorer(options, {});
}

/** @throws UserError */
export async function serveExplorer(
  options: StartExplorerOptions,
  parts: ExplorerParts,
): Promise<RunningExplorer> {
  const { buckets = [], configFile = "the configuration" } = options;
  const folder = persistPath(options.stateFolder);
  const ownFolder = join(folder, "explorer");
  const token = readOrMakeToken(ownFolder);
  const storeFolder = join(folder, "store");
  const givenBuckets = (): ExplorerBucketOptions[] =>
    (typeof buckets === "function" ? buckets() : buckets).map((bucket) =>
      typeof bucket === "string" ? { name: bucket } : bucket,
    );
  const configured = () => {
    const given = givenBuckets();
    const named = given.map(({ name, ...bucket }) => ({ ...bucket, bucketName: name }));
    return {
      names: [...new Set(given.map(({ name }) => name))],
      file: configFile,
      remotes: usedRemotes(named),
    };
  };
  const store = new StoreClient(storeFolder, configured, "explorer");
  const { activity = new ActivityLog(), changes = new ChangeFeed() } = parts;
  const { runningDns = async () => null, dns = async () => null } = parts;
  const remoteNames = (): string[] => [...configured().remotes.keys()];
  // They end with the explorer. The faults of a dev server end with the dev server.
  const ownFaults = new StoreFaults({
    folder: storeFolder,
    bucketNames: async () => (await store.list()).map(({ name }) => name),
    remoteNames,
    dns,
  });
  const faults = parts.faults ?? ownFaults;
  faults.onChange = () => changes.add({ topic: "faults" });
  const tasks = new StoreTasks({ store, dns }, changes);
  const context: ExplorerContext = {
    bindings: () => new Map(),
    ...partsOfFolder(options.stateFolder),
    ...parts,
    store,
    dns,
    storeTime: async () => (await faults.read()).storeTime,
    storageClassOf: (bucketName) =>
      givenBuckets().find(({ name }) => name === bucketName)?.storageClass ?? "Standard",
  };
  const sources = new ActivitySources({
    storeFolder,
    dns: runningDns,
    activity,
    changes,
    remoteNames,
    hasRequests: async () => (await context.project()).hasRequests,
  });
  const server = new ExplorerServer({
    context,
    routes: explorerRoutes({
      context,
      tasks,
      faults,
      activity,
      changes,
      control: async () => {
        if (parts.state !== undefined) return parts.state;
        const names = new Map(configured().names.map((name) => [name, name]));
        return connectState(options.stateFolder, parts.folderState?.() ?? { names });
      },
    }),
    changes,
    token,
    onError: options.onError ?? ((error) => console.error(error)),
  });
  let removeRecord: (() => void) | undefined;
  const close = async (): Promise<void> => {
    removeRecord?.();
    await server.close();
    await sources.close();
    await ownFaults.close();
    await tasks.close();
    await store.close();
  };
  try {
    const port = await listenAtFreePort({ port: options.port ?? defaultPort, host }, (free, at) =>
      server.listen(free, at),
    );
    if (parts.state !== undefined) removeRecord = recordServer(ownFolder, `http://${host}:${port}`);
    return { url: `http://localhost:${port}/?token=${token}`, port, close };
  } catch (error) {
    await tasks.close();
    await store.close();
    throw error;
  }
}

/** All routes of the explorer's API. */
export function explorerRoutes(of: {
  readonly context: ExplorerContext;
  readonly tasks: StoreTasks;
  readonly faults: StoreFaults;
  readonly activity: ActivityLog;
  readonly changes: ChangeFeed;
  readonly control: () => Promise<StateControl>;
}): readonly Route[] {
  const { context } = of;
  const describeProject = async () =>
    json({
      ...(await context.project()),
      version: packageVersion(),
      s3: shownAccess(context.s3()),
    } satisfies ProjectInfo);
  return [
    { method: "GET", path: "/api/project", handle: describeProject },
    ...bucketRoutes,
    ...objectRoutes,
    ...taskRoutes(of.tasks),
    ...zoneRoutes,
    ...stateRoutes(of),
    ...activityRoutes(of.activity, of.changes),
    ...faultRoutes(of.faults, async () => (await context.project()).dns !== null),
  ];
}

/** A page can be on a screen that others see: a secret of the user is not sent to it. */
function shownAccess(access: S3Access | null): ProjectInfo["s3"] {
  if (access === null) return null;
  const { url, credentials, secretPlace } = access;
  return {
    url,
    accessKeyId: credentials.accessKeyId,
    ...(secretPlace === undefined
      ? { secretAccessKey: credentials.secretAccessKey }
      : { secretPlace }),
  };
}

/** What can be said of a folder without a project. */
function partsOfFolder(stateFolder: string): Pick<ExplorerContext, "project" | "s3"> {
  const s3Folder = pluginFolder(stateFolder, "s3");
  return {
    project: async () => ({
      name: basename(stateFolder),
      stateFolder,
      scriptUrl: null,
      links: [],
      wranglerUrl: null,
      dns: null,
      hasRequests: false,
    }),
    s3: () => {
      const url = findServer(s3Folder);
      if (url === null) return null;
      return { url, credentials: readOrMakeCredentials(s3Folder), secretPlace: undefined };
    },
  };
}

/** The buckets of a project, for `startExplorer`. */
export function explorerBuckets({
  buckets,
}: Pick<ProjectConfig, "buckets">): ExplorerBucketOptions[] {
  return buckets.map(({ bucketName, previewBucketName, remote, storageClass }) => ({
    name: previewBucketName ?? bucketName,
    ...(remote !== undefined && { remote }),
    ...(storageClass !== undefined && { storageClass }),
  }));
}

/** The bindings of a project, by the names of their buckets. */
export function usedBuckets({
  buckets,
}: Pick<ProjectConfig, "buckets">): ReadonlyMap<string, readonly string[]> {
  const bindings = new Map<string, string[]>();
  for (const { binding, bucketName, previewBucketName } of buckets) {
    const name = previewBucketName ?? bucketName;
    bindings.set(name, [...(bindings.get(name) ?? []), binding]);
  }
  return bindings;
}

/** The headers of the explorer's requests to the record API. */
export function explorerHeaders(owner: { readonly email: string; readonly key: string }) {
  const { email, key } = owner;
  return { "x-auth-email": email, "x-auth-key": key, [clientHeader]: "explorer" };
}

/**
 * The token of a state folder: made once, and kept in a file that only the user can read. The same
 * token is used after a restart, so an open page and a bookmark go on.
 *
 * @throws UserError when the file cannot be written, or is not valid
 */
function readOrMakeToken(folder: string): string {
  const name = "token";
  let token;
  try {
    const file = { folder, name };
    token = readOrMakeFile(file, () => `${randomBytes(tokenBytes).toString("hex")}\n`).trim();
  } catch (error) {
    throw explain(error, folder);
  }
  if (/^[0-9a-f]{32}$/.test(token)) return token;
  throw new UserError(
    `${join(folder, name)} has no token. Remove the file, and a new token is made.`,
  );
}
