/** Serves the buckets of a state folder, or of a project, by the S3-compatible API. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { hostName } from "../base/host-rule.ts";
import { listenAtFreePort } from "../base/ports.ts";
import { UserError } from "../base/user-error.ts";
import type { S3Credentials } from "../http/signature.ts";
import { persistPath, stateFolder } from "../state/folder.ts";
import { usedRemotes } from "../store/config/remotes.ts";
import type { BucketBinding } from "../store/config/store-buckets.ts";
import { StoreClient } from "../store/node/store-client.ts";
import { createS3Server } from "./http-server.ts";
import type { S3BucketOptions } from "./s3-message.ts";
import type { ProjectS3 } from "./s3-table.ts";
import { defaultPort, readOrMakeCredentials, recordServer } from "./state-files.ts";

const defaultHost = "127.0.0.1";

export interface StartS3Options {
  /** The state folder, as `--persist-to` names it. */
  readonly stateFolder: string;
  /** The buckets of the configuration; a function if they may change. */
  readonly buckets?: readonly S3BucketOptions[] | (() => readonly S3BucketOptions[]);
  /** The path of the configuration, for messages. */
  readonly configFile?: string;
  /** Default: 8789, or the next free port. 0: any free port. */
  readonly port?: number;
  /** The address to listen at. Default: 127.0.0.1 */
  readonly host?: string;
  /** Names besides loopback under which the server may be called. */
  readonly hosts?: readonly string[];
  /** Default: credentials that are made for the state folder and kept there. */
  readonly credentials?: S3Credentials;
  /** Receives errors that no client has caused. Default: `console.error` */
  readonly onError?: (error: unknown) => void;
}

export interface RunningS3 {
  /** The endpoint, for clients: `http://localhost:8789`. */
  readonly url: string;
  readonly port: number;
  readonly credentials: S3Credentials;
  close(): Promise<void>;
}

/** @throws UserError */
export function startS3({ stateFolder: folder, ...options }: StartS3Options): Promise<RunningS3> {
  return serveFolder(persistPath(folder), options);
}

/**
 * @param folder where Miniflare keeps its state
 * @throws UserError
 */
export async function serveFolder(
  folder: string,
  options: Omit<StartS3Options, "stateFolder">,
): Promise<RunningS3> {
  const { host = defaultHost, buckets = [] } = options;
  const configured = typeof buckets === "function" ? buckets : () => buckets;
  const ownFolder = join(folder, "s3");
  const credentials = options.credentials ?? readOrMakeCredentials(ownFolder);
  const store = new StoreClient(join(folder, "store"), () => ({
    names: configured().map(({ name }) => name),
    file: options.configFile ?? "the configuration",
    remotes: usedRemotes(
      configured().map(({ name, ...bucket }) => ({ ...bucket, bucketName: name })),
    ),
  }));
  const server = createS3Server({
    store,
    settingsOf: (bucketName) => configured().find(({ name }) => name === bucketName),
    credentials,
    hosts: (options.hosts ?? []).map(requireHost),
    onError: options.onError ?? ((error) => console.error(error)),
  });
  try {
    const place = { port: options.port ?? defaultPort, host };
    const port = await listenAtFreePort(place, async (free, at) => {
      server.listen(free, at);
      await once(server, "listening");
      return (server.address() as AddressInfo).port;
    });
    const url = `http://${urlHost(host)}:${port}`;
    const removeRecord = recordServer(ownFolder, url);
    return {
      url,
      port,
      credentials,
      close: async () => {
        removeRecord();
        // Ends connections at once; the content of an upload in flight is removed.
        await new Promise<void>((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        });
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function requireHost(text: string): string {
  const name = hostName(text);
  if (name === null)
    throw new UserError(`${JSON.stringify(text)} is not a host name or an address.`);
  return name;
}

/** The name that a client on this machine uses. Names below `localhost` are buckets. */
function urlHost(host: string): string {
  if (host === "127.0.0.1" || host === "0.0.0.0" || host === "::" || host === "*")
    return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

/** What the server needs of a project. */
interface ServedProject {
  /** The path of the configuration file; `null` without a file. */
  readonly path: string | null;
  readonly folder: string;
  readonly buckets: readonly BucketBinding[];
  readonly s3: ProjectS3;
}

/**
 * @param config a function, because the configuration may change while the server runs
 * @param options replace the port of the configuration, and the state folder beside its file
 */
export function projectS3Options(
  config: () => ServedProject,
  options: { readonly port?: number; readonly persistTo?: string },
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

/** The options of a binding that the S3-compatible API depends on. */
export type ServedBinding = Pick<
  BucketBinding,
  "bucketName" | "public" | "remote" | "s3Compatibility" | "storageClass"
>;

/** A bucket that several bindings name has an option that is not the default if one of them says so. */
export function servedBuckets(
  bindings: readonly ServedBinding[],
  rules: ProjectS3["cors"],
): S3BucketOptions[] {
  const byName = Object.groupBy(bindings, ({ bucketName }) => bucketName);
  return Object.entries(byName).map(([name, ofBucket = []]) => ({
    name,
    public: ofBucket.some((binding) => binding.public === true),
    cors: rules.filter(({ bucket = name }) => bucket === name),
    remote: ofBucket[0]?.remote,
    storageClass: ofBucket.find(({ storageClass }) => storageClass === "InfrequentAccess")
      ?.storageClass,
    compatibility: ofBucket.find(({ s3Compatibility }) => s3Compatibility)?.s3Compatibility,
  }));
}
