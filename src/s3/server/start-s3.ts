/** Serves the buckets of a state folder by the S3-compatible API. */
import { join } from "node:path";
import { hostName } from "../../base/host-rule.ts";
import { listenAtFreePort } from "../../base/ports.ts";
import { persistPath } from "../../state/folder.ts";
import { UserError } from "../../base/user-error.ts";
import { type ProjectRemote, usedRemotes } from "../../store/config/remotes.ts";
import { RunningChecksums } from "../../store/node/running-checksums.ts";
import { StoreClient } from "../../store/node/store-client.ts";
import type { CorsRule } from "../cors-rules.ts";
import type { S3Credentials } from "../../http/signature.ts";
import { readOrMakeCredentials } from "./credentials-file.ts";
import { S3Server } from "./s3-server.ts";
import { recordServer } from "./server-record.ts";
import { StoreBuckets } from "./store-buckets.ts";

export const defaultPort = 8789;
const defaultHost = "127.0.0.1";

/** A bucket of the configuration: it exists from the start, and no request can delete it. */
export interface S3BucketOptions {
  readonly name: string;
  /** Requests without a signature may read the objects of the bucket. */
  readonly public?: boolean;
  /** The CORS rules of the bucket, until a request puts others. */
  readonly cors?: readonly CorsRule[];
  /** The S3 service that has the bucket: requests go on to it. Default: the bucket is in the state folder. */
  readonly remote?: ProjectRemote;
}

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
export function startS3({ stateFolder, ...options }: StartS3Options): Promise<RunningS3> {
  return serveFolder(persistPath(stateFolder), options);
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
  const client = new StoreClient(join(folder, "store"), () => ({
    names: configured().map(({ name }) => name),
    file: options.configFile ?? "the configuration",
    remotes: usedRemotes(
      configured().map(({ name, ...bucket }) => ({ ...bucket, bucketName: name })),
    ),
  }));
  const settings = (name: string) => {
    const found = configured().find((bucket) => bucket.name === name);
    return found && { isPublic: found.public === true, cors: found.cors ?? [] };
  };
  const server = new S3Server({
    buckets: new StoreBuckets(client, settings),
    credentials,
    hosts: (options.hosts ?? []).map(requireHost),
    computeChecksums: (bytes, algorithms) => {
      const running = new RunningChecksums(algorithms);
      running.update(bytes);
      return running.end();
    },
    onError: options.onError ?? ((error) => console.error(error)),
  });
  try {
    const port = await listenAtFreePort({ port: options.port ?? defaultPort, host }, (free, at) =>
      server.listen(free, at),
    );
    const url = `http://${urlHost(host)}:${port}`;
    const removeRecord = recordServer(ownFolder, url);
    return {
      url,
      port,
      credentials,
      close: async () => {
        removeRecord();
        await server.close();
        await client.close();
      },
    };
  } catch (error) {
    await client.close();
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
