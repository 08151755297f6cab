/**
 * The plan of an import, made before the first record is added: records in the form of the API, the
 * records that are left out with the reason, and the parts that the command sends. A part is a zone
 * file with one record on each line, so a line number in an error of the API identifies a record.
 */
import type { ResourceRecord } from "../../dns/wire/resource-record.ts";
import { classCodes, typeCodes } from "../../dns/wire/numbers.ts";
import { WireError } from "../../dns/wire/bytes.ts";
import { acceptRecord, type RecordRequest } from "../../dns/rules/accept-record.ts";
import { ZoneError, type Problem } from "../../dns/record/problem.ts";
import { type RecordDraft, nearestTtl } from "../../dns/record/zone-record.ts";
import { formatData } from "../../dns/record/presentation.ts";
import { toRecordRequest } from "../../dns/transfer/record-request.ts";
import { composeLine } from "../../dns/zone-file/compose.ts";
import { parseZoneFile } from "../../dns/zone-file/parse.ts";
import { UserError } from "../../base/user-error.ts";
import { nameOfType } from "../../dns/client/ask-server.ts";

export interface PlannedRecord {
  readonly draft: RecordDraft;
  /** The place in the source: `Line 12` of a file, or the name and type in a transfer. */
  readonly place: string;
}

export interface ImportPlan {
  readonly records: readonly PlannedRecord[];
  readonly leftOut: readonly {
    readonly name: string;
    readonly type: string;
    readonly content: string;
    readonly reason: "zone" | "type" | "data";
  }[];
  readonly movedTtls: readonly {
    readonly name: string;
    readonly type: string;
    readonly ttl: number;
    readonly to: number;
  }[];
}

export interface ImportPart {
  readonly text: string;
  /** The place of each line's record in the source. */
  readonly places: readonly string[];
}

/** Accepts what any server may accept. The server applies the rules of its own configuration. */
const permissiveRules = {
  nameRules: "dns",
  platformAddresses: [],
  commentCharactersMax: Infinity,
  tagsMax: Infinity,
} as const;

const problemsShownMax = 100;

/** Plans the import of a file that is too large for one request. */
export function planFile(
  text: string,
  options: { readonly zoneName: string; readonly proxied: boolean },
): ImportPlan {
  try {
    const parsed = parseZoneFile(text, { ...options, recordsMax: Infinity });
    const requests = parsed.map(({ request, line }) => ({ request, place: `Line ${line}` }));
    const movedTtls = parsed.flatMap(({ request, ttlMovedFrom: ttl }) => {
      const { name, type, ttl: to } = request as { name: string; type: string; ttl: number };
      return ttl === null ? [] : [{ name: name.slice(0, -1), type, ttl, to }];
    });
    return { records: draftRecords(requests, options.zoneName), leftOut: [], movedTtls };
  } catch (error) {
    if (!(error instanceof ZoneError)) throw error;
    throw new UserError(error.problems.map(describe).join("\n"));
  }
}

/** Plans the import of a transferred zone. */
export function planTransfer(records: readonly ResourceRecord[], zoneName: string): ImportPlan {
  const requests: { request: RecordRequest; place: string }[] = [];
  const leftOut: ImportPlan["leftOut"][number][] = [];
  const movedTtls: ImportPlan["movedTtls"][number][] = [];
  for (const record of records) {
    const { name } = record;
    const type = nameOfType(record.type);
    const request = requestOf(record, zoneName);
    if (typeof request === "string") {
      leftOut.push({ name, type, content: formatData(record.type, record.data), reason: request });
      continue;
    }
    const { ttl } = request;
    const to = nearestTtl(ttl);
    if (to !== ttl) movedTtls.push({ name, type, ttl, to });
    requests.push({
      request: { ...request, name: `${name}.`, ttl: to },
      place: `${name} ${type}`,
    });
  }
  return { records: draftRecords(requests, zoneName), leftOut, movedTtls };
}

/** The request for a record, or the reason to leave it out. */
function requestOf(record: ResourceRecord, zoneName: string) {
  const isApex = record.name.toLowerCase() === zoneName;
  if (record.type === typeCodes.SOA || (record.type === typeCodes.NS && isApex)) return "zone";
  if (record.class !== classCodes.IN) return "type";
  try {
    return toRecordRequest(record) ?? "type";
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return "data";
  }
}

/**
 * Accepts each request. Proxied records come last: the API requires that the target of a proxied
 * record exists.
 *
 * @throws UserError with all problems
 */
function draftRecords(
  requests: readonly { readonly request: RecordRequest; readonly place: string }[],
  zoneName: string,
): readonly PlannedRecord[] {
  const rules = { ...permissiveRules, zoneName };
  const records: PlannedRecord[] = [];
  const problems: string[] = [];
  for (const { request, place } of requests) {
    const draft = acceptRecord(request, rules, (problem) => {
      problems.push(`${place}: ${describe(problem)}`);
    });
    if (draft !== undefined) records.push({ draft, place });
  }
  if (problems.length === 0) {
    return records.sort((one, other) => Number(one.draft.proxied) - Number(other.draft.proxied));
  }
  const lines = problems.slice(0, problemsShownMax);
  const more = problems.length - lines.length;
  if (more > 0) lines.push(`… and ${more} more.`);
  throw new UserError(lines.join("\n"));
}

function describe({ message, code }: Problem): string {
  return `${message} (${code})`;
}

export function* partsOf(
  records: readonly PlannedRecord[],
  max: { readonly bytes: number; readonly records: number },
): Generator<ImportPart> {
  let lines: string[] = [];
  let places: string[] = [];
  let bytes = 0;
  for (const { draft, place } of records) {
    const line = `${composeLine(draft)}\n`;
    const length = Buffer.byteLength(line);
    if (lines.length === max.records || (lines.length > 0 && bytes + length > max.bytes)) {
      yield { text: lines.join(""), places };
      [lines, places, bytes] = [[], [], 0];
    }
    lines.push(line);
    places.push(place);
    bytes += length;
  }
  if (lines.length > 0) yield { text: lines.join(""), places };
}
