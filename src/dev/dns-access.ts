/** How other parts of the dev server reach its DNS. */
import { readDnsConfig } from "../dns/config/dns-config.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { explorerHeaders } from "../explorer/server/explorer-headers.ts";
import type { DnsAccess } from "../explorer/server/context.ts";

/** Where DNS is: a part of what the summary says of DNS. */
export type DnsLocation =
  | { readonly state: "on demand"; readonly url: string }
  | {
      readonly state: "shared";
      /** `null` while the other process starts DNS. */
      readonly url: string | null;
      readonly processId: number | null;
    }
  | {
      readonly state: "running";
      readonly url: string;
      /** Of UDP and TCP. */
      readonly addresses: readonly string[];
    };

/** @returns `null` without DNS, and while another process starts DNS */
export function accessOf(
  location: DnsLocation | undefined,
  { dns }: Pick<ProjectConfig, "dns">,
): DnsAccess | null {
  if (location === undefined || location.url === null) return null;
  const { email, key } = readDnsConfig(dns.variables);
  return {
    apiUrl: new URL(location.url).origin,
    addresses: location.state === "running" ? location.addresses : [],
    headers: explorerHeaders({ email, key }),
  };
}
