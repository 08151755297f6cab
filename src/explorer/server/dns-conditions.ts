/** The faults of DNS queries, held at the record API (`worker/api/held-query-faults.ts`). */
import { UserError } from "../../base/user-error.ts";
import { ConditionsConnection } from "../../store/node/held-conditions.ts";
import type { DnsAccess } from "./dns-follower.ts";
import type { WantedConditions } from "./wanted-conditions.ts";

interface DnsReport {
  /** How many queries each fault has hit, in the order of the faults. */
  readonly hits: readonly number[];
}

export type DnsConditions = ConditionsConnection<
  { readonly faults: WantedConditions["dnsFaults"] },
  DnsReport
>;

/** @param dns where the record API is; `null` when the project has no DNS at this moment */
export function dnsConditions(dns: () => Promise<DnsAccess | null>): DnsConditions {
  return new ConditionsConnection({
    findPlace: async () => {
      const access = await dns();
      if (access === null) {
        throw new UserError("DNS does not run, so the faults of DNS queries are not in force.");
      }
      const { hostname, port, host } = new URL(access.apiUrl);
      return {
        // The address of an IPv6 host stands in brackets.
        address: { host: hostname.replaceAll(/[[\]]/g, ""), port: Number(port || 80) },
        path: "/ledge/query_faults",
        headers: { host, ...access.headers },
      };
    },
    explain: ({ message }) =>
      `The record API does not take the faults of DNS queries (${message}). They are sent again until it does.`,
  });
}
