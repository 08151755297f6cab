/** The import of a zone file into a zone, and the export of a zone as a zone file. */
import { atLine, ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import { recordType } from "../../src/dns/record/registry.ts";
import type { ZoneRecord } from "../../src/dns/record/zone-record.ts";
import type { RecordRequest } from "../../src/dns/rules/accept-record.ts";
import { composeZoneFile } from "../../src/dns/zone-file/compose.ts";
import { parseZoneFile } from "../../src/dns/zone-file/parse.ts";
import type { ZoneIdentity, ZoneState } from "./zone-state.ts";
import type { ZoneTransaction } from "./zone-transaction.ts";

/** More problems than a person reads. */
const problemsShownMax = 100;

/** More than five times what a file of the allowed size can hold without $GENERATE. */
const importRecordsMax = 100_000;

/** A file names the servers of its zone. The servers that every zone has here are not records. */
function isAssignedNameServer({ type, name, content }: RecordRequest, zone: ZoneIdentity): boolean {
  const target = String(content).toLowerCase().replace(/\.$/, "");
  return type === "NS" && name === `${zone.name}.` && zone.nameServers.includes(target);
}

/** Counts records that already exist as parsed, and leaves them unchanged. */
export function importZoneFile(
  text: string,
  proxied: boolean,
  transaction: ZoneTransaction,
): { recs_added: number; total_records_parsed: number } {
  const { identity, recordQuota } = transaction.context;
  const recordsMax = Math.min(recordQuota, importRecordsMax);
  const parsed = parseZoneFile(text, { zoneName: identity.name, proxied, recordsMax });
  const problems: Problem[] = [];
  let added = 0;
  for (const { request, line } of parsed) {
    if (isAssignedNameServer(request, identity)) continue;
    try {
      if (transaction.createIfAbsent(request)) added += 1;
    } catch (error) {
      if (!(error instanceof ZoneError)) throw error;
      problems.push(...error.problems.map((found) => atLine(found, line)));
    }
    if (problems.length >= problemsShownMax) break;
  }
  if (problems.length > 0) throw new ZoneError(problems);
  return { recs_added: added, total_records_parsed: parsed.length };
}

export function exportZoneFile(
  { name, nameServers }: ZoneIdentity,
  { settings, serial }: ZoneState,
  records: readonly ZoneRecord[],
): string {
  const { soa, ns_ttl } = settings;
  const head = {
    zoneName: name,
    nameServers,
    nsTtlSeconds: ns_ttl,
    soaTtlSeconds: soa.ttl,
    soa: recordType("SOA").compose({ ...soa, serial, minimum: soa.min_ttl }),
    exportedOn: new Date().toISOString(),
  };
  return composeZoneFile(head, records);
}
