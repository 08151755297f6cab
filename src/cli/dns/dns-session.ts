/**
 * A command's access to DNS: the API of a server, for as long as the command runs. The server is the
 * server that `--url` names, the server that runs on the project's state, or, if none runs, a server
 * that ends with the command. Modules that `--help` does not need are loaded when a command runs.
 */
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../../base/user-error.ts";
import type { ProjectConfig } from "../../config/read-config.ts";
import { lookUpServer, type ServerAddress } from "../../config/server-address.ts";
import { ApiClient } from "../../dns/client/api-client.ts";
import type { StartDnsOptions } from "../../dns/server/start-dns.ts";
import {
  findZonesOwner,
  zonesFolder,
  ZonesTakenError,
  zonesWaitMilliseconds,
  type DnsAddresses,
  type ZonesOwnerRecord,
} from "../../dns/server/zones-owner.ts";
import { withCleanup } from "../cleanup.ts";
import { UsageError, type Invocation, type Option } from "../command.ts";
import { configSelection, defined, projectOptions, textOption } from "../options.ts";

/** Which server, and its credentials. */
export const serverOptions: Record<string, Option> = {
  ...projectOptions,
  url: {
    summary: "The API of another server",
    value: "URL",
    default: "the running server of the project, or a server for this command",
  },
  email: { summary: "The e-mail address that belongs to --key", value: "EMAIL" },
  key: { summary: "The account's key", value: "KEY", default: "the server's" },
  token: { summary: "A token, instead of --email and --key", value: "TOKEN" },
};

interface DnsSession {
  readonly api: ApiClient;
  readonly project: ProjectConfig;
  /** Where the server answers over UDP and TCP; `null` when that is not known. */
  readonly dns: ServerAddress | null;
}

interface DnsServer extends DnsAddresses {
  /** Present when the server runs for this command only. */
  stop?(): Promise<void>;
}

const pollMilliseconds = 50;
/** A healthy server on this machine answers sooner. */
const answerMilliseconds = 5_000;
const apiRoot = "/client/v4";

/** @param options.listen whether `work` needs UDP and TCP */
export async function withDns<Result>(
  invocation: Invocation,
  work: (session: DnsSession) => Promise<Result>,
  { listen = false }: { listen?: boolean } = {},
): Promise<Result> {
  const { readConfig } = await import("../../config/read-config.ts");
  const project = readConfig(configSelection(invocation));
  const server = await findServer(invocation, project, listen);
  const credentials = defined({
    email: textOption(invocation, "email") ?? server.email,
    key: textOption(invocation, "key") ?? server.key,
    token: textOption(invocation, "token"),
  });
  const api = new ApiClient(server.url, credentials);
  return withCleanup(
    () => work({ api, project, dns: server.dns }),
    async () => server.stop?.(),
  );
}

async function findServer(
  invocation: Invocation,
  project: ProjectConfig,
  listen: boolean,
): Promise<DnsServer> {
  const { readDnsConfig } = await import("../../config/dns-config.ts");
  const { email, key } = readDnsConfig(project.dns.variables);
  const url = textOption(invocation, "url");
  if (url !== undefined) return { url: apiUrl(url), dns: null, email, key };
  // As in wrangler, --persist-to is relative to the working folder, and the default to the file's.
  const state = textOption(invocation, "persist-to");
  const options = defined<StartDnsOptions>({
    ...configSelection(invocation),
    persistTo: state === undefined ? undefined : resolve(state),
    listen,
  });
  const folder = zonesFolder(project.folder, options.persistTo);
  const deadline = Date.now() + zonesWaitMilliseconds;
  for (;;) {
    const owner = await findZonesOwner(folder);
    if (owner === null) {
      const started = await startServer(options, { email, key });
      if (started !== null) return started;
    } else if (!owner.isBrief && owner.addresses !== undefined) {
      await checkAnswers(folder, owner, owner.addresses);
      return owner.addresses;
    } else if (Date.now() > deadline) {
      throw notAnswering(folder, owner);
    }
    await delay(pollMilliseconds);
  }
}

/** Returns `null` when another process has taken the zones meanwhile. */
async function startServer(
  options: StartDnsOptions,
  credentials: Pick<DnsAddresses, "email" | "key">,
): Promise<DnsServer | null> {
  // Loading the runtime takes longer than most commands take through a running server.
  const { startBriefly } = await import("../../dns/server/start-dns.ts");
  try {
    const running = await startBriefly(options);
    const { url, dnsPort } = running;
    const dns = dnsPort === null ? null : { host: "127.0.0.1", port: dnsPort };
    return { url, dns, stop: () => running.stop(), ...credentials };
  } catch (error) {
    if (error instanceof ZonesTakenError) return null;
    throw error;
  }
}

async function checkAnswers(folder: string, owner: ZonesOwnerRecord, { url }: DnsAddresses) {
  try {
    const signal = AbortSignal.timeout(answerMilliseconds);
    await (await fetch(`${url}/user`, { signal })).arrayBuffer();
  } catch {
    throw notAnswering(folder, owner);
  }
}

function notAnswering(folder: string, owner: ZonesOwnerRecord): UserError {
  const { processId, addresses, isBrief } = owner;
  const at = addresses === undefined ? "" : ` at ${addresses.url}`;
  return new UserError(
    isBrief
      ? `Another command (process ${processId}) has the zones in ${folder}. Wait until it ends.`
      : `Process ${processId} has the zones in ${folder} and does not answer${at}. ` +
          "Stop the process and try again.",
  );
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
