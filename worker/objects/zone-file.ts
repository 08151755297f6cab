/** The import of a zone file into a zone, and the export of a zone as a zone file. */
import { atLine, ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import { recordType } from "../../src/dns/record/types.ts";
import type { ZoneRecord } from "../../src/dns/record/zone-record.ts";
import type { RecordRequest } from "../../src/dns/rules/accept-record.ts";
import { composeZoneFile } from "../../src/dns/zone-file/compose.ts";
import { readZoneFile } from "../../src/dns/zone-file/parse.ts";
import type { Message } from "./object-reply.ts";
import type { ZoneIdentity, ZoneState } from "./zone-state.ts";
import type { ZoneTransaction } from "./zone-transaction.ts";

/** More problems than a person reads. */
const problemsShownMax = 100;
const messagesShownMax = 100;
/** The deployed service has no such message; the codes of `problem.ts` have the same range. */
const ttlMovedCode = 9453;

/** More than five times what a file of the allowed size can hold without $GENERATE. */
const importRecordsMax = 100_000;

/** A file names the servers of its zone. The servers that every zone has here are not records. */
function isAssignedNameServer({ type, name, content }: RecordRequest, zone: ZoneIdentity): boolean {
  const target = String(content).toLowerCase().replace(/\.$/, "");
  return type === "NS" && name === `${zone.name}.` && zone.nameServers.includes(target);
}

export interface ImportedFile {
  readonly recs_added: number;
  readonly total_records_parsed: number;
}

/** Tells that a TTL of the file was changed. */
function describeMovedTtl(line: number, from: number, to: number): Message {
  const message = `Line ${line}: TTL ${from} was changed to ${to}, the nearest that a record can have.`;
  return { code: ttlMovedCode, message };
}

/**
 * Counts records that already exist as parsed, and leaves them unchanged.
 *
 * @param messages receives what was changed
 * @throws ZoneError with the problems of all lines
 */
export function importZoneFile(
  text: string,
  proxied: boolean,
  transaction: ZoneTransaction,
  messages: Message[],
): ImportedFile {
  const { identity, recordQuota } = transaction.context;
  const recordsMax = Math.min(recordQuota, importRecordsMax);
  const options = { zoneName: identity.name, proxied, recordsMax };
  const { records, problems: malformed } = readZoneFile(text, options);
  const problems: Problem[] = [...malformed];
  let added = 0;
  for (const { request, line, ttlMovedFrom } of records) {
    if (isAssignedNameServer(request, identity)) continue;
    if (ttlMovedFrom !== null && messages.length < messagesShownMax) {
      messages.push(describeMovedTtl(line, ttlMovedFrom, request["ttl"] as number));
    }
    try {
      if (transaction.createIfAbsent(request)) added += 1;
    } catch (error) {
      if (!(error instanceof ZoneError)) throw error;
      problems.push(...error.problems.map((found) => atLine(found, line)));
    }
    if (problems.length >= problemsShownMax) break;
  }
  if (problems.length > 0) throw new ZoneError(byLine(problems).slice(0, problemsShownMax));
  return { recs_added: added, total_records_parsed: records.length };
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

/** 0 for a problem of the whole file. */
function lineOf({ message }: Problem): number {
  return Number(/^Line (\d+)/.exec(message)?.[1] ?? 0);
}

function byLine(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((one, other) => lineOf(one) - lineOf(other));
}
