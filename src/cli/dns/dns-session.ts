/**
 * A command's access to DNS, whoever has the zones at the moment: the server that `--url` names,
 * the one that is running on the state, or, when there is none, one that ends with the command.
 */
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readConfig as readDnsConfig } from "../../config/dns-config.ts";
import { readConfig, type ProjectConfig } from "../../config/read-config.ts";
import {
  findZonesOwner,
  zonesFolder,
  ZonesTakenError,
  zonesWaitMilliseconds,
  type DnsAddresses,
  type ZonesOwnerRecord,
} from "../../dns/server/zones-owner.ts";
import { UserError } from "../../base/user-error.ts";
import { UsageError, type Invocation } from "../command.ts";
import { ApiClient } from "../../dns/client/api-client.ts";
import { textOption } from "./output.ts";

export interface DnsSession {
  readonly api: ApiClient;
  readonly project: ProjectConfig;
  /** Where our own server answers by UDP and TCP; `null` when that is not known. */
  readonly dns: DnsAddresses["dns"];
}

interface Server {
  readonly url: string;
  readonly dns: DnsAddresses["dns"];
  readonly email: string;
  readonly key: string;
  stop?(): Promise<void>;
}

const pollMilliseconds = 50;
/** A server on this machine that is well says something sooner. */
const answerMilliseconds = 5_000;
const apiRoot = "/client/v4";

export async function withDns<Result>(
  invocation: Invocation,
  work: (session: DnsSession) => Promise<Result>,
  /** Whether UDP and TCP are needed. */
  { listen = false }: { listen?: boolean } = {},
): Promise<Result> {
  const project = projectOf(invocation);
  const server = await findServer(invocation, project, listen);
  // The runtime must not outlive the command.
  const stop = (signal: NodeJS.Signals): void => {
    const code = signal === "SIGINT" ? 130 : 143;
    void Promise.resolve(server.stop?.()).finally(() => process.exit(code));
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    const token = textOption(invocation, "token");
    const api = new ApiClient(server.url, {
      email: textOption(invocation, "email") ?? server.email,
      key: textOption(invocation, "key") ?? server.key,
      ...(token !== undefined && { token }),
    });
    return await work({ api, project, dns: server.dns });
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    await server.stop?.();
  }
}

function projectOf(invocation: Invocation): ProjectConfig {
  return readConfig(configOptions(invocation));
}

function configOptions(invocation: Invocation): { configPath?: string; environment?: string } {
  const [configPath, environment] = [
    textOption(invocation, "config"),
    textOption(invocation, "env"),
  ];
  return {
    ...(configPath !== undefined && { configPath }),
    ...(environment !== undefined && { environment }),
  };
}

async function findServer(
  invocation: Invocation,
  project: ProjectConfig,
  listen: boolean,
): Promise<Server> {
  const { email, key } = readDnsConfig(project.dns.variables);
  const url = textOption(invocation, "url");
  if (url !== undefined) return { url: apiUrl(url), dns: null, email, key };
  // As wrangler: a path that is given starts at the working folder, the usual one at the file's.
  const given = textOption(invocation, "persist-to");
  const persistTo = given === undefined ? undefined : resolve(given);
  const folder = zonesFolder(project.folder, persistTo);
  const deadline = Date.now() + zonesWaitMilliseconds;
  for (;;) {
    const owner = findZonesOwner(folder);
    if (owner === null) {
      const options = {
        ...configOptions(invocation),
        ...(persistTo !== undefined && { persistTo }),
      };
      const started = await startOwn({ ...options, listen }, { email, key });
      if (started !== null) return started;
    } else if (!owner.brief && owner.addresses !== undefined) {
      await checkAnswers(folder, owner, owner.addresses);
      return owner.addresses;
    } else if (Date.now() > deadline) {
      throw notAnswering(folder, owner);
    }
    await delay(pollMilliseconds);
  }
}

/** `null` when somebody else was faster. */
async function startOwn(
  options: { configPath?: string; environment?: string; persistTo?: string; listen: boolean },
  owner: { email: string; key: string },
): Promise<Server | null> {
  // Loading the runtime takes longer than most of what a command does through that of another.
  const { startBriefly } = await import("../../dns/server/start-dns.ts");
  try {
    const running = await startBriefly(options);
    const { url, dnsPort } = running;
    const dns = dnsPort === null ? null : { host: "127.0.0.1", port: dnsPort };
    return { url, dns, stop: () => running.stop(), ...owner };
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

function notAnswering(
  folder: string,
  { processId, addresses, brief }: ZonesOwnerRecord,
): UserError {
  const at = addresses === undefined ? "" : ` at ${addresses.url}`;
  return new UserError(
    brief
      ? `Another command (process ${processId}) has the zones in ${folder}. Wait until it is done.`
      : `Process ${processId} has the zones in ${folder}, and does not answer${at}. Stop it, and try again.`,
  );
}

/** The API's root, whether or not it was written. */
function apiUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`--url must be a URL such as http://127.0.0.1:8788, not "${text}".`);
  }
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path === "" ? apiRoot : path}`;
}
