/**
 * A command's access to DNS, for as long as the command runs: the server that `--url` names, or the
 * zones of the project, through the process that owns them (`zones-connection.ts`).
 */
import { resolve } from "node:path";
import { nearest } from "../../base/nearest.ts";
import { NotFoundError } from "../../base/user-error.ts";
import { readConfig, type ProjectConfig } from "../../config/read-config.ts";
import {
  ApiClient,
  type ApiZone,
  type Credentials,
  type Fetch,
} from "../../dns/client/api-client.ts";
import { readDnsConfig } from "../../dns/config/dns-config.ts";
import { lookUpServer, type ProjectDns, type ServerAddress } from "../../dns/config/dns-table.ts";
import { acceptZoneName } from "../../dns/rules/zone.ts";
import {
  connectionUrl,
  connectToZones,
  findListeners,
  findServer,
} from "../../dns/server/zones-connection.ts";
import { zonesFolder, type Zones } from "../../dns/server/zones-owner.ts";
import { stateFolder } from "../../state/folder.ts";
import {
  configSelection,
  projectOptions,
  UsageError,
  type Invocation,
  type OptionTable,
} from "../command.ts";
import { withCleanup } from "../run.ts";

export const serverOptions: OptionTable = {
  ...projectOptions,
  "--url URL":
    "The API of another server " +
    "(default: the process that has the zones of the project, or this command)",
  "--email EMAIL": "The e-mail address that belongs to --key",
  "--key KEY": "The account's key (default: the configuration's, for --url)",
  "--token TOKEN": "A token, instead of --email and --key",
};

interface DnsSession {
  readonly api: ApiClient;
  readonly project: ProjectConfig;
  /** Where the server answers over UDP and TCP; `null` when that is not known. */
  readonly dns: ServerAddress | null;
  /** The same over TLS. */
  readonly tls: ServerAddress | null;
}

interface DnsServer {
  /** Of the API, with `/client/v4`. */
  readonly url: string;
  readonly dns: ServerAddress | null;
  readonly tls: ServerAddress | null;
  /** Sends the requests. Default: `fetch()`. */
  readonly fetch?: Fetch;
  /** Whether the server accepts requests without credentials. */
  readonly isPrivate?: boolean;
  stop?(): Promise<void>;
}

const apiRoot = "/client/v4";

/**
 * @param options.need the zones, served by this process while no other does; `listeners`: UDP and TCP
 *   in addition; `server`: a process that serves until its end, which has the faults and the log
 */
export async function withDns<Result>(
  invocation: Invocation,
  work: (session: DnsSession) => Promise<Result>,
  { need = "zones" }: { need?: keyof typeof connections } = {},
): Promise<Result> {
  const { project, zones } = readProject(invocation);
  const url = invocation.text("url");
  const server: DnsServer =
    url !== undefined
      ? { url: apiUrl(url), dns: null, tls: null }
      : await connections[need](zones, project.dns);
  const credentials = findCredentials(invocation, project, server.isPrivate === true);
  const api = new ApiClient(server.url, credentials, server.fetch);
  return withCleanup(
    () => work({ api, project, dns: server.dns, tls: server.tls }),
    async () => server.stop?.(),
  );
}

/** The project that the invocation names, and the zones in its state folder. */
export function readProject(invocation: Invocation): {
  readonly project: ProjectConfig;
  readonly zones: Zones;
  readonly stateFolder: string;
} {
  const project = readConfig({ ...configSelection(invocation), keysOptional: true });
  // As in wrangler, --persist-to is relative to the working folder, and the default to the file's.
  const given = invocation.text("persist-to");
  const state = given === undefined ? undefined : resolve(given);
  const folder = zonesFolder(project.folder, state);
  return {
    project,
    zones: { folder, variables: project.dns.variables },
    stateFolder: stateFolder(project.folder, state),
  };
}

function findCredentials(
  invocation: Invocation,
  { dns }: ProjectConfig,
  isPrivate: boolean,
): Credentials | null {
  const [email, key, token] = ["email", "key", "token"].map((name) => invocation.text(name));
  if (isPrivate && (email ?? key ?? token) === undefined) return null;
  const own = readDnsConfig(dns.variables);
  return { token, email: email ?? own.email, key: key ?? own.key };
}

const connections = {
  async zones(zones: Zones): Promise<DnsServer> {
    const connection = await connectToZones(zones);
    return { ...privateServer(connection.fetch), stop: () => connection.close() };
  },
  listeners: (zones: Zones, dns: ProjectDns): Promise<DnsServer> => findListeners(zones, dns),
  server: async (zones: Zones): Promise<DnsServer> => privateServer(await findServer(zones)),
};

function privateServer(fetchThere: Fetch): DnsServer {
  return { url: connectionUrl, dns: null, tls: null, isPrivate: true, fetch: fetchThere };
}

/** Adds the root of the API to a URL without a path. */
function apiUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`--url must be a URL such as http://127.0.0.1:8788, not "${text}".`);
  }
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path === "" ? apiRoot : path}`;
}

/** @param name the option that names the server */
export async function resolveServer(
  name: string,
  text: string,
  portIfMissing?: number,
): Promise<ServerAddress> {
  const server = await lookUpServer(text, portIfMissing);
  if (server !== null) return server;
  throw new UsageError(`--${name} must be HOST or HOST:PORT of a name server, not "${text}".`);
}

export const zoneArgument = ["ZONE", "The name or the id of a zone"] as const;

const idPattern = /^[0-9a-f]{32}$/;

export async function findZone(api: ApiClient, word: string): Promise<ApiZone> {
  if (idPattern.test(word)) return api.zone(word);
  const found = await findZoneNamed(api, word);
  if (found !== null) return found;
  const names = (await api.zones()).map(({ name }) => name);
  throw new NotFoundError(`There is no zone "${word}". ${suggestion(word, names)}`);
}

/** Returns `null` when no zone has the name, or when the name is not valid. */
export async function findZoneNamed(api: ApiClient, word: string): Promise<ApiZone | null> {
  const name = acceptZoneName(word, () => {});
  return name === undefined ? null : api.zoneNamed(name);
}

function suggestion(word: string, names: readonly string[]): string {
  const parent = names.find((name) => word.toLowerCase().endsWith(`.${name}`));
  const guess = parent ?? nearest(word, names);
  if (guess !== null) return `Did you mean ${guess}?`;
  return names.length === 0
    ? 'The server has no zones: make one with "ledge dns zones --create NAME".'
    : 'List the zones with "ledge dns zones", or make it with "ledge dns zones --create NAME".';
}
