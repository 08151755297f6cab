import { atLine, problem, ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import type { RecordRequest } from "../../src/dns/rules/accept-record.ts";
import { parseZoneFile } from "../../src/dns/zone-file/parse.ts";
import type { ZoneSeed } from "./zone-state.ts";
import type { ZoneWrites } from "./zone-writes.ts";

/** More than a reader would go through. */
const problemsShownMax = 100;

/** Without $GENERATE a file of the allowed size cannot hold a fifth of it. */
const importRecordsMax = 100_000;

/** A file names the servers of its zone; those that every zone has here are not records. */
function isAssignedNameServer({ type, name, content }: RecordRequest, seed: ZoneSeed): boolean {
  const target = String(content).toLowerCase().replace(/\.$/, "");
  return type === "NS" && name === `${seed.name}.` && seed.nameServers.includes(target);
}

/** Records that are there already are counted as parsed and left alone. */
export function importZoneFile(
  text: string,
  options: {
    readonly writes: ZoneWrites;
    readonly seed: ZoneSeed;
    readonly proxied: boolean;
    readonly recordQuota: number;
  },
): { recs_added: number; total_records_parsed: number } {
  const { writes, seed, proxied, recordQuota } = options;
  const recordsMax = Math.min(recordQuota, importRecordsMax);
  const parsed = parseZoneFile(text, { zoneName: seed.name, proxied, recordsMax });
  const problems: Problem[] = [];
  const identical = problem.identicalRecord().code;
  let added = 0;
  for (const { request, line } of parsed) {
    if (isAssignedNameServer(request, seed)) continue;
    try {
      writes.create(request);
      added += 1;
    } catch (error) {
      if (!(error instanceof ZoneError)) throw error;
      if (error.problems.some(({ code }) => code === identical)) continue;
      problems.push(...error.problems.map((found) => atLine(found, line)));
    }
    if (problems.length >= problemsShownMax) break;
  }
  if (problems.length > 0) throw new ZoneError(problems);
  return { recs_added: added, total_records_parsed: parsed.length };
}
