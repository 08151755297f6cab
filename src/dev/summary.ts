/** The lines that a dev server prints when it is ready: addresses, DNS and bindings. */
import { shownPath } from "../config/config-file.ts";
import { renderBindings, type BindingTableOptions, type ScriptBinding } from "./binding-table.ts";
import type { DnsLocation } from "./dns-access.ts";
import { renderRemote, type RemoteSummary } from "./remote-services.ts";

export interface DevSummary extends BindingTableOptions {
  readonly url: string;
  /** The URLs of the script at the addresses of other interfaces, if it listens at all of them. */
  readonly networkUrls: readonly string[];
  /** With a token that gives access; `null` with `--no-explorer`. */
  readonly explorerUrl: string | null;
  /** The page of wrangler that shows the state of KV, D1 and others; `null` if it is turned off. */
  readonly wranglerExplorerUrl: string | null;
  /** The address of the inspector; `null` without an inspector. */
  readonly inspector: string | null;
  readonly stateFolder: string;
  readonly bindings: Readonly<Record<string, ScriptBinding>>;
  /** `null` with `--no-dns`. */
  readonly dns: DnsSummary | null;
  /** The faults in force, in the words of `--fault`, and why some are not. */
  readonly faults: readonly string[];
  /** `null` with `--no-s3`, and without buckets. */
  readonly s3: S3Summary | null;
  /** The S3 services that have buckets of the script. */
  readonly remotes: readonly RemoteSummary[];
}

export interface S3Summary {
  readonly url: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export type DnsSummary = { readonly notes: readonly string[] } & (
  | Exclude<DnsLocation, { state: "running" }>
  | (Extract<DnsLocation, { state: "running" }> & {
      /** Whether the configuration has `[dns]`. */
      readonly isDeclared: boolean;
      /** Indented lines; empty without https. */
      readonly https: readonly string[];
      /** Indented lines. */
      readonly credentials: readonly string[];
      /** All zones that exist. */
      readonly zones: readonly string[];
    })
);

const zonesShownMax = 8;
/** The types of bindings whose state wrangler's page shows. */
const wranglerKinds: ReadonlySet<string> = new Set([
  "kv_namespace",
  "d1",
  "r2_bucket",
  "durable_object_namespace",
  "workflow",
]);

export function renderSummary(summary: DevSummary, workingFolder: string): string {
  const { url, networkUrls, inspector, stateFolder, dns, s3, bindings } = summary;
  const table = renderBindings(bindings, summary);
  return [
    `Ready      ${url}`,
    ...networkUrls.map((each) => `Network    ${each}`),
    ...describeExplorers(summary),
    ...(inspector === null ? [] : [`Inspector  ${inspector}`]),
    `State      ${shownPath(stateFolder, workingFolder)}`,
    ...summary.remotes.flatMap(renderRemote),
    ...(s3 === null ? [] : renderS3(s3)),
    ...(dns === null ? [] : renderDns(dns)),
    ...summary.faults.map(
      (fault, index) => `${index === 0 ? "Faults    " : "          "} ${fault}`,
    ),
    ...(table.length === 0 ? [] : ["", ...table]),
  ].join("\n");
}

/** wrangler's page is named if the script has a binding that only this page shows. */
function describeExplorers({ explorerUrl, wranglerExplorerUrl: others, bindings }: DevSummary) {
  const hasOthers = Object.values(bindings).some(({ type }) => wranglerKinds.has(type));
  return [
    ...(explorerUrl === null ? [] : [`Explorer   ${explorerUrl}`]),
    ...(others === null || !hasOthers ? [] : [`  KV, D1 … ${others}`]),
  ];
}

export function renderS3({ url, accessKeyId, secretAccessKey }: S3Summary): string[] {
  return [`S3 API     ${url}`, `  key id   ${accessKeyId}`, `  secret   ${secretAccessKey}`];
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
  const { isDeclared, url, https, addresses, credentials, zones } = dns;
  return [
    `DNS API    ${url}`,
    ...https,
    ...(isDeclared ? credentials : []),
    `  zones    ${describeZones(zones)}`,
    ...(addresses.length === 0 ? [] : [`DNS        ${addresses.join(", ")} (UDP and TCP)`]),
  ];
}

function describeZones(zones: readonly string[]): string {
  if (zones.length === 0) return "none";
  const more = zones.length - zonesShownMax;
  const shown = zones.slice(0, zonesShownMax).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}
