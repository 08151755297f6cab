/**
 * A command's access to DNS, for as long as the command runs: the server that `--url` names, or the
 * zones of the project, through the process that owns them (`zones-connection.ts`). Modules that
 * `--help` does not need are loaded when a command runs.
 */
import { resolve } from "node:path";
import type { ProjectConfig } from "../../config/read-config.ts";
import { lookUpServer, type ServerAddress } from "../../dns/config/dns-table.ts";
import { ApiClient, type Credentials, type Fetch } from "../../dns/client/api-client.ts";
import type { Zones } from "../../dns/server/zones-owner.ts";
import { withCleanup } from "../cleanup.ts";
import { UsageError, type Invocation, type Option } from "../command.ts";
import { configSelection, defined, projectOptions, textOption } from "../options.ts";

/** Which server, and its credentials. */
export const serverOptions: Record<string, Option> = {
  ...projectOptions,
  url: {
    summary: "The API of another server",
    value: "URL",
    default: "the process that has the zones of the project, or this command",
  },
  email: { summary: "The e-mail address that belongs to --key", value: "EMAIL" },
  key: { summary: "The account's key", value: "KEY", default: "the configuration's, for --url" },
  token: { summary: "A token, instead of --email and --key", value: "TOKEN" },
};

interface DnsSession {
  readonly api: ApiClient;
  readonly project: ProjectConfig;
  /** Where the server answers over UDP and TCP; `null` when that is not known. */
  readonly dns: ServerAddress | null;
}

interface DnsServer {
  /** Of the API, with `/client/v4`. */
  readonly url: string;
  readonly dns: ServerAddress | null;
  /** Sends the requests. Default: `fetch()`. */
  readonly fetch?: Fetch;
  /** Whether the server accepts requests without credentials. */
  readonly isPrivate?: boolean;
  stop?(): Promise<void>;
}

const apiRoot = "/client/v4";

/** @param options.listen whether `work` needs UDP and TCP */
export async function withDns<Result>(
  invocation: Invocation,
  work: (session: DnsSession) => Promise<Result>,
  { listen = false }: { listen?: boolean } = {},
): Promise<Result> {
  const { readConfig } = await import("../../config/read-config.ts");
  const project = readConfig({ ...configSelection(invocation), keysOptional: true });
  const server = await findServer(invocation, project, listen);
  const credentials = await findCredentials(invocation, project, server.isPrivate === true);
  const api = new ApiClient(server.url, credentials, server.fetch);
  return withCleanup(
    () => work({ api, project, dns: server.dns }),
    async () => server.stop?.(),
  );
}

async function findCredentials(
  invocation: Invocation,
  { dns }: ProjectConfig,
  isPrivate: boolean,
): Promise<Credentials | null> {
  const given = defined({
    email: textOption(invocation, "email"),
    key: textOption(invocation, "key"),
    token: textOption(invocation, "token"),
  });
  if (isPrivate && Object.keys(given).length === 0) return null;
  const { readDnsConfig } = await import("../../dns/config/dns-config.ts");
  const { email, key } = readDnsConfig(dns.variables);
  return { ...given, email: given.email ?? email, key: given.key ?? key };
}

async function findServer(
  invocation: Invocation,
  project: ProjectConfig,
  listen: boolean,
): Promise<DnsServer> {
  const url = textOption(invocation, "url");
  if (url !== undefined) return { url: apiUrl(url), dns: null };
  const zones = await projectZones(invocation, project);
  return listen ? findListeners(zones, project) : connect(zones);
}

/** The zones in the state folder that the invocation names. */
export async function projectZones(invocation: Invocation, project: ProjectConfig): Promise<Zones> {
  const { zonesFolder } = await import("../../dns/server/zones-owner.ts");
  // As in wrangler, --persist-to is relative to the working folder, and the default to the file's.
  const state = textOption(invocation, "persist-to");
  const folder = zonesFolder(project.folder, state === undefined ? undefined : resolve(state));
  return { folder, variables: project.dns.variables };
}

async function connect(zones: Zones): Promise<DnsServer> {
  const { connectionUrl, ZonesConnection } = await import("../../dns/server/zones-connection.ts");
  const connection = await ZonesConnection.open(zones);
  return {
    url: connectionUrl,
    dns: null,
    isPrivate: true,
    fetch: (input, init) => connection.fetch(input, init),
    stop: () => connection.close(),
  };
}

/** The ports of the owner, or ports for this command. */
export async function findListeners(zones: Zones, project: ProjectConfig): Promise<DnsServer> {
  const { waitForAddresses } = await import("../../dns/server/zones-owner.ts");
  // Loading the runtime takes longer than most commands take through a running server.
  const addresses = await waitForAddresses(zones.folder);
  if (addresses !== null) return addresses;
  const { startBriefly } = await import("../../dns/server/start-dns.ts");
  const running = await startBriefly(zones, project.dns);
  if (running === null) return findListeners(zones, project);
  const { url, dnsPort } = running;
  const server = dnsPort === null ? null : { host: "127.0.0.1", port: dnsPort };
  return { url, dns: server, stop: () => running.stop() };
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
export async function resolveServer(name: string, text: string): Promise<ServerAddress> {
  const server = await lookUpServer(text);
  if (server !== null) return server;
  throw new UsageError(`--${name} must be HOST or HOST:PORT of a name server, not "${text}".`);
}
