/** How other parts of the dev server reach its DNS. */
import { readDnsConfig } from "../config/dns-config.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { explorerHeaders } from "../explorer/server/explorer-headers.ts";
import type { DnsAccess } from "../explorer/server/context.ts";
import type { DnsSummary } from "./summary.ts";

/** @returns `null` without DNS, and while another process starts DNS */
export function accessOf(
  summary: DnsSummary | undefined,
  { dns }: Pick<ProjectConfig, "dns">,
): DnsAccess | null {
  if (summary === undefined || summary.url === null) return null;
  const { email, key } = readDnsConfig(dns.variables);
  return {
    apiUrl: new URL(summary.url).origin,
    addresses: summary.state === "running" ? summary.addresses : [],
    headers: explorerHeaders({ email, key }),
  };
}
