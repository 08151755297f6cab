/** The faults of DNS queries that `--fault` gives to a dev server. */
import { readDnsConfig, type DnsVariables } from "../config/dns-config.ts";
import { parseFaultSpec, type ParsedFault } from "../config/fault-spec.ts";

type QueryFaults = readonly Extract<ParsedFault, { subject: "dns" }>["fault"][];

/**
 * The faults of queries among all faults.
 *
 * @throws UserError that quotes the text of a fault that is none
 */
export function parseQueryFaults(specs: readonly string[] = []): QueryFaults {
  return specs
    .map((spec) => parseFaultSpec(spec))
    .flatMap((parsed) => (parsed.subject === "dns" ? [parsed.fault] : []));
}

/** @param url of the record API */
export async function setQueryFaults(
  url: string,
  variables: DnsVariables,
  faults: QueryFaults,
): Promise<void> {
  const { email, key } = readDnsConfig(variables);
  const response = await fetch(new URL("/ledge/query_faults", url), {
    method: "PUT",
    headers: { "x-auth-email": email, "x-auth-key": key, "content-type": "application/json" },
    body: JSON.stringify({ faults }),
  });
  if (!response.ok) throw new Error(`DNS does not take the faults: ${await response.text()}`);
}
