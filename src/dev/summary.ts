/** The lines that a dev server prints when it is ready: addresses, DNS and bindings. */
import { networkInterfaces, type NetworkInterfaceInfo } from "node:os";
import { formatTable } from "../base/format.ts";
import { shownPath } from "../config/config-file.ts";
import type { S3Access } from "../s3/s3-table.ts";
import type { BucketBinding } from "../store/config/store-buckets.ts";
import { remotePlace } from "../store/config/remotes.ts";
import { requireRemote } from "../store/node/remote-buckets.ts";
import { describeGaps } from "../store/remote/remote-gaps.ts";

/** A binding as wrangler's dev server has it. The fields depend on the type. */
export interface ScriptBinding {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface RunningScript {
  readonly name: string;
  readonly bindings: Readonly<Record<string, ScriptBinding>>;
}

export interface BindingTableOptions {
  /** Names of bindings that the script does not see. */
  readonly hidden: ReadonlySet<string>;
  readonly storeLatencyMilliseconds: number;
  /** The names of the scripts that dev servers of this machine run. */
  readonly runningScripts: ReadonlySet<string>;
}

/** A part that the dev server does not have is `null`. */
export interface DevSummary extends BindingTableOptions {
  readonly url: string;
  /** To names that lead to this dev server. */
  readonly links: readonly string[];
  readonly networkUrls: readonly string[];
  /** With a token that gives access. */
  readonly explorerUrl: string | null;
  readonly wranglerExplorerUrl: string | null;
  readonly inspector: string | null;
  readonly stateFolder: string;
  /** What the state started from, and whether it ends with the server. */
  readonly stateNotes: readonly string[];
  /** The script that has the address, then the scripts beside it. */
  readonly scripts: readonly RunningScript[];
  readonly dns: DnsSummary | null;
  /** The faults in force, in the words of `--fault`, and why some are not. */
  readonly faults: readonly string[];
  readonly s3: S3Access | null;
  readonly remotes: readonly RemoteSummary[];
}

/** Where DNS is: a part of what the summary says of DNS. */
export type DnsLocation =
  | { readonly state: "on demand"; readonly url: string }
  /** The URL is `null` while the other process starts DNS. */
  | { readonly state: "shared"; readonly url: string | null; readonly processId: number | null }
  /** The addresses are those of UDP and TCP. */
  | { readonly state: "running"; readonly url: string; readonly addresses: readonly string[] };

export type DnsSummary = DnsLocation & {
  readonly notes: readonly string[];
  /** Indented lines about https and credentials, while DNS runs here. */
  readonly details: readonly string[];
  /** All zones that exist, while DNS runs here. */
  readonly zones: readonly string[];
  /** Lines that say where queries are answered, while DNS runs here. */
  readonly listeners: readonly string[];
};

const zonesShownMax = 8;
const linksShownMax = 5;
/** The types of bindings whose state wrangler's page shows. */
const wranglerKinds: ReadonlySet<string> = new Set([
  "kv_namespace",
  "d1",
  "r2_bucket",
  "durable_object_namespace",
  "workflow",
]);

export function renderSummary(summary: DevSummary, workingFolder: string): string {
  const { url, links, networkUrls, inspector, stateFolder, stateNotes, dns, s3, scripts } = summary;
  const { explorerUrl, wranglerExplorerUrl: othersUrl } = summary;
  const [, ...others] = scripts;
  return [
    `Ready      ${url}`,
    ...(others.length === 0 ? [] : [`  beside   ${others.map(({ name }) => name).join(", ")}`]),
    ...renderLinks(links),
    ...networkUrls.map((each) => `Network    ${each}`),
    ...(explorerUrl === null ? [] : [`Explorer   ${explorerUrl}`]),
    ...(othersUrl === null ? [] : [`  KV, D1 … ${othersUrl}`]),
    ...(inspector === null ? [] : [`Inspector  ${inspector}`]),
    `State      ${shownPath(stateFolder, workingFolder)}${stateNotes.length === 0 ? "" : ` (${stateNotes.join(", ")})`}`,
    ...summary.remotes.flatMap(({ name, endpoint, gaps }) => [
      `Remote     ${name}, ${endpoint}`,
      ...gaps.map((gap) => `  lacks    ${gap}`),
    ]),
    ...(s3 === null ? [] : renderS3(s3)),
    ...(dns === null ? [] : renderDns(dns)),
    ...summary.faults.map((fault, index) => `${(index === 0 ? "Faults" : "").padEnd(10)} ${fault}`),
    ...scripts.flatMap(({ name, bindings }) => {
      const table = renderBindings(bindings, summary);
      if (table.length === 0) return [];
      return ["", ...(others.length === 0 ? [] : [`Script ${name}`]), ...table];
    }),
  ].join("\n");
}

function renderLinks(links: readonly string[]): string[] {
  const shown = links.slice(0, linksShownMax);
  if (shown.length < links.length) shown.push("…");
  return shown.map((link, index) => `${(index === 0 ? "  names" : "").padEnd(10)} ${link}`);
}

export function renderS3(access: S3Access): string[] {
  const { url, credentials } = access;
  return [
    `S3 API     ${url}`,
    `  key id   ${credentials.accessKeyId}`,
    `  secret   ${secretText(access)}`,
  ];
}

/** A terminal and its log are read by others: of a secret of the user, the place is shown. */
export function secretText({ credentials, secretPlace }: S3Access): string {
  return secretPlace ?? credentials.secretAccessKey;
}

export function renderDns(dns: DnsSummary): string[] {
  return [...dns.notes, ...describeDns(dns)];
}

function describeDns(dns: DnsSummary): string[] {
  if (dns.state === "on demand") {
    return [`DNS API    ${dns.url} (starts with the first request)`];
  }
  if (dns.state === "shared") {
    return [
      `DNS API    ${dns.url ?? "starts"} (of process ${dns.processId ?? "?"}, while that process runs)`,
    ];
  }
  const { url, details, zones, listeners } = dns;
  return [`DNS API    ${url}`, ...details, `  zones    ${describeZones(zones)}`, ...listeners];
}

function describeZones(zones: readonly string[]): string {
  if (zones.length === 0) return "none";
  const more = zones.length - zonesShownMax;
  const shown = zones.slice(0, zonesShownMax).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}

type Mode =
  | "local"
  | "local [connected]"
  | "local [not connected]"
  | "remote"
  | "not supported"
  | `on ${string}`;

interface Kind {
  readonly label: string;
  /** The resource; the first field that has a value. */
  readonly resource?: readonly string[] | ((binding: ScriptBinding) => string | undefined);
  /** Default: local, unless the binding has `remote`. */
  readonly mode?: Mode | ((binding: ScriptBinding) => Mode);
}

/** Longer values are cut, as in wrangler's table. */
const valueCharactersMax = 40;

/** wrangler simulates these only with the account of the user. */
const remoteOnly = ({ remote }: ScriptBinding): Mode =>
  remote === false ? "not supported" : "remote";
const remoteIfAsked = ({ remote }: ScriptBinding): Mode =>
  remote === true ? "remote" : "not supported";

const variable: Kind = { label: "Environment Variable", resource: variableValue };

/** By the type that wrangler gives a binding, in the order of the table. */
const kinds: Readonly<Record<string, Kind>> = {
  unsafe_store_bucket: {
    label: "Store Bucket",
    resource: (binding) => text(pluginOptions(binding)["bucket_name"]),
    mode: placeOf,
  },
  unsafe_dns_remote: { label: "DNS Record API", mode: "local" },
  unsafe_dns: { label: "DNS Record API", mode: "local" },
  durable_object_namespace: { label: "Durable Object", resource: classOf, mode: "local" },
  workflow: { label: "Workflow", resource: classOf },
  kv_namespace: { label: "KV Namespace", resource: ["id"] },
  r2_bucket: { label: "R2 Bucket", resource: ["bucket_name"] },
  d1: { label: "D1 Database", resource: ["preview_database_id", "database_name", "database_id"] },
  queue: { label: "Queue", resource: ["queue_name"] },
  service: { label: "Worker", resource: serviceOf },
  fetcher: { label: "Service Binding", mode: "local" },
  assets: { label: "Assets", mode: "local" },
  hyperdrive: { label: "Hyperdrive Config", resource: ["id"], mode: "local" },
  analytics_engine: { label: "Analytics Engine Dataset", resource: ["dataset"], mode: "local" },
  ratelimit: {
    label: "Rate Limit",
    resource: ({ simple }) =>
      isRecord(simple) ? `${text(simple["limit"])} requests/${text(simple["period"])}s` : undefined,
    mode: "local",
  },
  send_email: { label: "Send Email", resource: ["destination_address"] },
  secrets_store_secret: {
    label: "Secrets Store Secret",
    resource: ({ store_id: store, secret_name: name }) => `${text(store)}/${text(name)}`,
    mode: "local",
  },
  pipeline: { label: "Pipeline", resource: ["stream", "pipeline"] },
  images: { label: "Images" },
  browser: { label: "Browser Run" },
  version_metadata: { label: "Worker Version Metadata", mode: "local" },
  worker_loader: { label: "Worker Loader", mode: "local" },
  vectorize: { label: "Vectorize Index", resource: ["index_name"], mode: remoteIfAsked },
  vpc_service: { label: "VPC Service", resource: ["service_id"], mode: remoteIfAsked },
  vpc_network: { label: "VPC Network", resource: ["tunnel_id", "network_id"], mode: remoteIfAsked },
  dispatch_namespace: {
    label: "Dispatch Namespace",
    resource: ["namespace"],
    mode: remoteIfAsked,
  },
  mtls_certificate: {
    label: "mTLS Certificate",
    resource: ["certificate_id"],
    mode: remoteIfAsked,
  },
  ai: { label: "AI", mode: remoteOnly },
  ai_search: { label: "AI Search Instance", resource: ["instance_name"], mode: "remote" },
  ai_search_namespace: { label: "AI Search Namespace", resource: ["namespace"], mode: "remote" },
  stream: { label: "Stream", mode: remoteOnly },
  media: { label: "Media", mode: remoteOnly },
  plain_text: variable,
  json: variable,
  secret_text: variable,
  wasm_module: { label: "Wasm Module", mode: "local" },
  text_blob: { label: "Text Blob", mode: "local" },
  data_blob: { label: "Data Blob", mode: "local" },
};
const order = Object.keys(kinds);
const rank = (type: string): number => (type in kinds ? order.indexOf(type) : order.length);

/**
 * The bindings of a script as a table, in the words of wrangler's table: the name with the resource,
 * the kind, and whether the resource is on this machine. No lines for a script without bindings.
 */
export function renderBindings(
  bindings: Readonly<Record<string, ScriptBinding>>,
  { hidden, storeLatencyMilliseconds: latency, runningScripts }: BindingTableOptions,
): string[] {
  const shown = Object.entries(bindings)
    .filter(([name]) => !hidden.has(name))
    .toSorted(([, one], [, other]) => rank(one.type) - rank(other.type));
  if (shown.length === 0) return [];
  const rows = shown.map(([name, binding]) => {
    const kind = kindOf(binding);
    const isLate = latency > 0 && binding.type === "unsafe_store_bucket";
    const mode = connectionOf(binding, runningScripts) ?? modeOf(kind, binding);
    return [
      describeBinding(name, binding),
      kind.label,
      `${mode}${isLate ? `, ${latency} ms late` : ""}`,
    ];
  });
  return formatTable([["Binding", "Resource", "Mode"], ...rows]).split("\n");
}

/** A line for each binding whose script has started or stopped in another dev server. */
export function connectionNews(
  scripts: readonly RunningScript[],
  before: ReadonlySet<string>,
  now: ReadonlySet<string>,
): string[] {
  return scripts.flatMap(({ bindings }) =>
    Object.entries(bindings).flatMap(([name, binding]) => {
      const connection = connectionOf(binding, now);
      if (connection === null || connection === connectionOf(binding, before)) return [];
      return `${describeBinding(name, binding)}: ${connection}`;
    }),
  );
}

/** Whether a dev server runs the script of a binding; `null` for a binding that needs no other script. */
function connectionOf(binding: ScriptBinding, running: ReadonlySet<string>): Mode | null {
  const script = otherScript(binding);
  if (script === "") return null;
  return running.has(script) ? "local [connected]" : "local [not connected]";
}

/** The script that serves a binding, if another dev server can run the script. */
function otherScript({ type, service, remote, dev, script_name: script }: ScriptBinding): string {
  if (type === "service") return remote === true || dev !== undefined ? "" : text(service);
  return type === "durable_object_namespace" ? text(script) : "";
}

function kindOf(binding: ScriptBinding): Kind {
  return kinds[binding.type] ?? { label: labelOf(binding) };
}

function describeBinding(name: string, binding: ScriptBinding): string {
  const resource = resourceOf(kindOf(binding), binding);
  return `env.${name}${resource === undefined ? "" : ` (${resource})`}`;
}

function resourceOf({ resource }: Kind, binding: ScriptBinding): string | undefined {
  if (resource === undefined) return undefined;
  if (typeof resource === "function") return resource(binding);
  return resource.map((field) => text(binding[field])).find((value) => value !== "");
}

function modeOf({ mode }: Kind, binding: ScriptBinding): Mode {
  if (typeof mode === "function") return mode(binding);
  return mode ?? (binding["remote"] === true ? "remote" : "local");
}

/** Of a kind that the table does not have: `agent_memory` becomes "Agent Memory". */
function labelOf({ type, dev }: ScriptBinding): string {
  if (type.startsWith("unsafe_") && isRecord(dev) && isRecord(dev["plugin"])) {
    return text(dev["plugin"]["name"]);
  }
  return type.replaceAll("_", " ").replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

/** The remote of a bucket by its name. */
function placeOf(binding: ScriptBinding): Mode {
  const { remote } = pluginOptions(binding);
  return isRecord(remote) ? `on ${text(remote["name"])}` : "local";
}

function pluginOptions({ dev }: ScriptBinding): Readonly<Record<string, unknown>> {
  return isRecord(dev) && isRecord(dev["options"]) ? dev["options"] : {};
}

function classOf({ class_name: name, script_name: script }: ScriptBinding): string {
  return script === undefined ? text(name) : `${text(name)}, defined in ${text(script)}`;
}

function serviceOf({ service, entrypoint }: ScriptBinding): string {
  return entrypoint === undefined ? text(service) : `${text(service)}#${text(entrypoint)}`;
}

/** Secrets do not appear on the terminal. */
function variableValue({ type, value, hidden }: ScriptBinding): string {
  if (type === "secret_text" || hidden === true) return '"(hidden)"';
  // JSON escapes control characters, which could change the terminal.
  return type === "json" ? cut(JSON.stringify(value) ?? "") : JSON.stringify(cut(text(value)));
}

function cut(value: string): string {
  if (value.length < valueCharactersMax) return value;
  return `${value.slice(0, valueCharactersMax - 3)}...`;
}

/** Empty for a value that is no text and no number, such as wrangler's symbol for inherited values. */
function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

interface ScriptAddress {
  readonly protocol: string;
  /** As the user names the address to listen at. */
  readonly hostname: string;
  readonly port: number;
}

const anyAddresses = new Set(["*", "0.0.0.0", "::"]);

/** The URL for this machine. */
export function urlOf({ hostname, ...address }: ScriptAddress): string {
  return format({ ...address, hostname: anyAddresses.has(hostname) ? "localhost" : hostname });
}

/** The URLs for other machines, if the server listens at all addresses. */
export function networkUrlsOf(
  address: ScriptAddress,
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces(),
): string[] {
  if (!anyAddresses.has(address.hostname)) return [];
  return Object.values(interfaces)
    .flatMap((addresses = []) => addresses)
    .filter(({ internal, family }) => !internal && family === "IPv4")
    .map(({ address: hostname }) => format({ ...address, hostname }));
}

/** `null` if the script has no binding that wrangler's page shows, or a variable turns the page off. */
export function wranglerExplorerUrl(
  url: string,
  scripts: readonly RunningScript[] = [],
): string | null {
  const isOff = process.env["X_LOCAL_EXPLORER"] === "false";
  const isOfUse = scripts.some(({ bindings }) =>
    Object.values(bindings).some(({ type }) => wranglerKinds.has(type)),
  );
  return isOff || !isOfUse ? null : `${url}/cdn-cgi/local/explorer`;
}

function format({ protocol, hostname, port }: ScriptAddress): string {
  return `${protocol}://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

export interface RemoteSummary {
  readonly name: string;
  readonly endpoint: string;
  /** What the service lacks, and what that means. */
  readonly gaps: readonly string[];
}

/** @throws UserError for a service that cannot be used, or that lacks what a bucket needs */
export async function checkRemotes(
  buckets: readonly BucketBinding[],
  storeFolder: string,
): Promise<RemoteSummary[]> {
  const checked = await Promise.all(
    buckets.flatMap(({ bucketName, previewBucketName, remote }) => {
      if (remote === undefined) return [];
      const { name, endpoint, credentials, accept } = remote;
      const place = remotePlace(remote, previewBucketName ?? bucketName);
      return requireRemote({ ...place, credentials, accept }, { storeFolder }).then((features) => ({
        name,
        endpoint,
        gaps: describeGaps(features),
      }));
    }),
  );
  // Buckets of one service have the same features.
  return [...new Map(checked.map((remote) => [remote.name, remote])).values()];
}
