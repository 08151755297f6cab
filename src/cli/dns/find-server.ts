/**
 * The server that a command uses: the server that `--url` names, the server that runs on the
 * project's state, or, if none runs, a server that ends with the command.
 */
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../../base/user-error.ts";
import { readDnsConfig } from "../../config/dns-config.ts";
import type { ProjectConfig } from "../../config/read-config.ts";
import {
  findZonesOwner,
  zonesFolder,
  ZonesTakenError,
  zonesWaitMilliseconds,
  type DnsAddresses,
  type ZonesOwnerRecord,
} from "../../dns/server/zones-owner.ts";
import { UsageError, type Invocation } from "../command.ts";
import { configSelection, textOption } from "../options.ts";

export interface DnsServer {
  /** The root of the record API. */
  readonly url: string;
  /** Where the server answers over UDP and TCP; `null` when that is not known. */
  readonly dns: DnsAddresses["dns"];
  readonly email: string;
  readonly key: string;
  /** Present when the server runs for this command only. */
  stop?(): Promise<void>;
}

const pollMilliseconds = 50;
/** A healthy server on this machine answers sooner. */
const answerMilliseconds = 5_000;
const apiRoot = "/client/v4";

export async function findServer(
  invocation: Invocation,
  project: ProjectConfig,
  listen: boolean,
): Promise<DnsServer> {
  const { email, key } = readDnsConfig(project.dns.variables);
  const url = textOption(invocation, "url");
  if (url !== undefined) return { url: apiUrl(url), dns: null, email, key };
  // As in wrangler, --persist-to is relative to the working folder, and the default to the file's.
  const state = textOption(invocation, "persist-to");
  const persistTo = state === undefined ? undefined : resolve(state);
  const folder = zonesFolder(project.folder, persistTo);
  const deadline = Date.now() + zonesWaitMilliseconds;
  for (;;) {
    const owner = findZonesOwner(folder);
    if (owner === null) {
      const options = {
        ...configSelection(invocation),
        ...(persistTo !== undefined && { persistTo }),
        listen,
      };
      const started = await startServer(options, { email, key });
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

/** Returns `null` when another process has taken the zones meanwhile. */
async function startServer(
  options: { configPath?: string; environment?: string; persistTo?: string; listen: boolean },
  credentials: { email: string; key: string },
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
  const { processId, addresses, brief } = owner;
  const at = addresses === undefined ? "" : ` at ${addresses.url}`;
  return new UserError(
    brief
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
