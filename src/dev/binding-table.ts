/**
 * The bindings of a script as a table, in the words of wrangler's table: the name with the resource,
 * the kind, and whether the resource is on this machine.
 */
import { formatTable } from "../base/format.ts";

/** A binding as wrangler's dev server has it. The fields depend on the type. */
export interface ScriptBinding {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface BindingTableOptions {
  /** Names of bindings that the script does not see. */
  readonly hidden: ReadonlySet<string>;
  readonly storeLatencyMilliseconds: number;
}

type Mode = "local" | "remote" | "not supported" | `on ${string}`;

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
  unsafe_store_bucket: { label: "Store Bucket", resource: bucketOf, mode: placeOf },
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
  ratelimit: { label: "Rate Limit", resource: rateOf, mode: "local" },
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

/** The lines of the table; none for a script without bindings. */
export function renderBindings(
  bindings: Readonly<Record<string, ScriptBinding>>,
  { hidden, storeLatencyMilliseconds: latency }: BindingTableOptions,
): string[] {
  const shown = Object.entries(bindings)
    .filter(([name]) => !hidden.has(name))
    .toSorted(([, one], [, other]) => rank(one) - rank(other));
  if (shown.length === 0) return [];
  const rows = shown.map(([name, binding]) => {
    const kind = kinds[binding.type] ?? { label: labelOf(binding) };
    const resource = resourceOf(kind, binding);
    const isLate = latency > 0 && binding.type === "unsafe_store_bucket";
    return [
      `env.${name}${resource === undefined ? "" : ` (${resource})`}`,
      kind.label,
      `${modeOf(kind, binding)}${isLate ? `, ${latency} ms late` : ""}`,
    ];
  });
  return formatTable([["Binding", "Resource", "Mode"], ...rows]).split("\n");
}

function rank({ type }: ScriptBinding): number {
  const index = order.indexOf(type);
  return index === -1 ? order.length : index;
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

/** A kind that this table does not know: `agent_memory` becomes "Agent Memory". */
function labelOf({ type, dev }: ScriptBinding): string {
  if (type.startsWith("unsafe_") && isRecord(dev) && isRecord(dev["plugin"])) {
    return text(dev["plugin"]["name"]);
  }
  return type.replaceAll("_", " ").replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

function bucketOf(binding: ScriptBinding): string {
  return text(pluginOptions(binding)["bucket_name"]);
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

function rateOf({ simple }: ScriptBinding): string | undefined {
  if (!isRecord(simple)) return undefined;
  return `${text(simple["limit"])} requests/${text(simple["period"])}s`;
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
