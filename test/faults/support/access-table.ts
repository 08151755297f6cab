/**
 * Every port that a process of this package may listen on: which server it is, and which requests
 * it accepts. The test fails for every other port. SECURITY.md describes the same ports.
 */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { argumentsOf, isRuntimeProcess, readProcess } from "../../support/processes.ts";
import type { ListeningSocket } from "./listening-sockets.ts";
import { sendRaw, upgradeHeaders, type RawRequest } from "./raw-http.ts";

const foreignHost = { host: "evil.example" };
const foreignOrigin = { origin: "https://evil.example" };

/** What a web page can make a browser send, and a client without a key. */
const probes = {
  "foreign Host": { headers: foreignHost },
  "foreign Host, with MF-Original-URL": {
    headers: { ...foreignHost, "mf-original-url": "http://localhost/client/v4/user" },
  },
  "WebSocket with a foreign Host, with MF-Original-URL": {
    headers: { ...upgradeHeaders, ...foreignHost, "MF-Original-URL": "http://localhost/" },
  },
  "MF-Original-URL of a foreign host": { headers: { "MF-ORIGINAL-URL": "http://evil.example/" } },
  "simple POST of a foreign page": {
    method: "POST",
    headers: { ...foreignOrigin, "content-type": "text/plain" },
    body: "{}",
  },
  "POST of a page without an origin": {
    method: "POST",
    headers: { origin: "null", "content-type": "text/plain" },
    body: "{}",
  },
  preflight: {
    method: "OPTIONS",
    headers: { ...foreignOrigin, "access-control-request-method": "PUT" },
  },
  "preflight of a page at loopback": {
    method: "OPTIONS",
    headers: { origin: "http://localhost:3000", "access-control-request-method": "PUT" },
  },
  "WebSocket of a foreign page": { headers: { ...upgradeHeaders, ...foreignOrigin } },
  "no key": { method: "POST", headers: { "content-type": "application/json" }, body: "{}" },
} satisfies Record<string, RawRequest>;

type ProbeName = keyof typeof probes;
type Outcome = number | "closed";

interface Server {
  /** Whose server it is. A server of stock tools does what stock does, and this says what. */
  readonly of: "Ledge" | "wrangler" | "Miniflare" | "workerd" | "the script";
  readonly path: string;
  readonly outcomes: Readonly<Record<ProbeName, Outcome>>;
}

function always(outcome: Outcome, more: Partial<Record<ProbeName, Outcome>> = {}) {
  const names = Object.keys(probes) as ProbeName[];
  const outcomes = Object.fromEntries(names.map((name) => [name, outcome]));
  return { ...outcomes, ...more } as Server["outcomes"];
}

export const accessTable = {
  /** The API refuses pages with 403, and a request without credentials as the deployed service does. */
  "record API": {
    of: "Ledge",
    path: "/client/v4/zones",
    outcomes: always(403, { "MF-Original-URL of a foreign host": 400, "no key": 400 }),
  },
  /** HTTP is not TLS. Inside of TLS the record API answers as above (`test/dns/https.test.ts`). */
  "record API over https": { of: "Ledge", path: "/client/v4/zones", outcomes: always("closed") },
  /** Queries need no key; this probe is not a query. */
  "DNS over HTTPS": {
    of: "Ledge",
    path: "/dns-query",
    outcomes: always(403, { "MF-Original-URL of a foreign host": 400, "no key": 415 }),
  },
  /** Requests need a signature; a plain POST to a key is no operation, with one or without. */
  "S3 API": {
    of: "Ledge",
    path: "/photos/key",
    outcomes: always(501, {
      "WebSocket of a foreign page": 400,
      "foreign Host": 403,
      "foreign Host, with MF-Original-URL": 403,
      "WebSocket with a foreign Host, with MF-Original-URL": 403,
      "MF-Original-URL of a foreign host": 400,
      preflight: 403,
      "preflight of a page at loopback": 403,
    }),
  },
  /** Its own page only, with the token. All routes: `test/explorer/access.test.ts`. */
  explorer: {
    of: "Ledge",
    path: "/api/project",
    outcomes: always(403, { "MF-Original-URL of a foreign host": 401, "no key": 401 }),
  },
  publications: { of: "Ledge", path: "/publications", outcomes: always(403) },
  /** The endpoints of the store and of DNS, and the control socket of an owner: no page can connect. */
  "Unix socket": { of: "Ledge", path: "/", outcomes: always("closed") },
  /** HTTP is not DNS: the name server waits for the rest of a message, or closes the connection. */
  DNS: { of: "Ledge", path: "/", outcomes: always("closed") },
  "DNS over TLS": { of: "Ledge", path: "/", outcomes: always("closed") },
  /** The script decides of requests with its host. */
  script: {
    of: "the script",
    path: "/",
    outcomes: always(200, {
      "foreign Host": 403,
      "foreign Host, with MF-Original-URL": 403,
      "WebSocket with a foreign Host, with MF-Original-URL": 403,
      "MF-Original-URL of a foreign host": 403,
    }),
  },
  /** For wrangler's proxy, which has a token. */
  "edge worker": { of: "Ledge", path: "/", outcomes: always(403) },
  "Miniflare's entry to the script": { of: "the script", path: "/", outcomes: always(200) },
  /** A script without handlers, as in getPlatformProxy(), passes requests on to the named host. */
  "Miniflare's entry without a script": { of: "Miniflare", path: "/", outcomes: always(404) },
  "Miniflare's loopback": {
    of: "Miniflare",
    path: "/",
    outcomes: always(403),
  },
  /** Cap'n Proto, for the dev registry: scripts of other dev servers call this script. */
  "workerd's debug port": { of: "workerd", path: "/", outcomes: always("closed") },
  /** Only with --inspector-port. */
  "workerd's inspector": {
    of: "workerd",
    path: "/core:user:script",
    outcomes: always(501, {
      "foreign Host": 500,
      "foreign Host, with MF-Original-URL": 500,
      "WebSocket with a foreign Host, with MF-Original-URL": 101,
      "MF-Original-URL of a foreign host": 500,
      "WebSocket of a foreign page": 101,
    }),
  },
  "wrangler's inspector": {
    of: "wrangler",
    path: "/ws",
    outcomes: always(404, {
      "WebSocket of a foreign page": 401,
      "WebSocket with a foreign Host, with MF-Original-URL": 401,
    }),
  },
} satisfies Record<string, Server>;

export type Role = keyof typeof accessTable;

/** The ports that the started program has told, by role. */
export type KnownPorts = Partial<Record<Role, number>>;

/**
 * Which server of the table listens on a port.
 *
 * @returns `null` for a server that is not in the table
 */
export async function roleOf(
  { processId, port, transport, address }: ListeningSocket,
  known: KnownPorts,
  processIds: readonly number[],
): Promise<Role | null> {
  // Only the user can enter the folder of the socket.
  if (transport === "unix") return isPrivate(dirname(address)) ? "Unix socket" : null;
  if (address !== "127.0.0.1" && address !== "::1") return null;
  const told = Object.entries(known).find(([, each]) => each === port)?.[0] as Role | undefined;
  if (transport === "udp") return told === "DNS" ? told : null;
  if (told !== undefined) return told;
  return isRuntime(processId)
    ? roleInRuntime(port, argumentsOf(processId))
    : roleInNode(port, processIds);
}

function isRuntime(processId: number): boolean {
  const entry = readProcess(processId);
  return entry !== null && isRuntimeProcess(entry);
}

async function roleInNode(port: number, processIds: readonly number[]): Promise<Role | null> {
  const loopback = `--external-addr=loopback=127.0.0.1:${port}`;
  if (processIds.some((each) => argumentsOf(each).includes(loopback)))
    return "Miniflare's loopback";
  const { status } = await sendRaw(port, { method: "POST", path: "/publications" });
  return status === 403 ? "publications" : null;
}

async function roleInRuntime(port: number, words: readonly string[]): Promise<Role | null> {
  const { status, text } = await sendRaw(port, { path: "/json" });
  if (status === "closed") return has(words, "--debug-port=") ? "workerd's debug port" : null;
  if (text.includes("webSocketDebuggerUrl"))
    return has(words, "--inspector-addr=") ? "workerd's inspector" : null;
  if (status === 403) return "edge worker";
  if (status === 404) return "Miniflare's entry without a script";
  return status === 200 ? "Miniflare's entry to the script" : null;
}

function isPrivate(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found !== undefined && (found.mode & 0o077) === 0;
}

function has(words: readonly string[], prefix: string): boolean {
  return words.some((word) => word.startsWith(prefix));
}

export interface Observed {
  readonly outcomes: Record<string, Outcome>;
  /** Headers with which a server would let a foreign page read its responses. */
  readonly corsHeaders: readonly string[];
}

export async function probe(port: number, path: string): Promise<Observed> {
  const outcomes: Record<string, Outcome> = {};
  const corsHeaders: string[] = [];
  for (const [name, request] of Object.entries(probes)) {
    const reply = await sendRaw(port, { path, ...request });
    outcomes[name] = reply.status;
    const granted = Object.keys(reply.headers).filter((each) => each.startsWith("access-control-"));
    corsHeaders.push(...granted.map((header) => `${name}: ${header}`));
  }
  return { outcomes, corsHeaders };
}
