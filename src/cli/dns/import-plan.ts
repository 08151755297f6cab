/**
 * What an import will add, worked out before anything is: records in the form of the API, what is
 * left out and why, and the parts in which the rest is sent. A part is a zone file with a record a
 * line, so that what the server says of a line is known to be about a record.
 */
import type { ResourceRecord } from "../../dns/wire/resource-record.ts";
import { classCodes, typeCodes } from "../../dns/wire/numbers.ts";
import { WireError } from "../../dns/wire/bytes.ts";
import { acceptRecord, type RecordRequest } from "../../dns/rules/accept-record.ts";
import { ZoneError, type Problem } from "../../dns/record/problem.ts";
import type { RecordDraft } from "../../dns/record/zone-record.ts";
import { formatData } from "../../dns/record/presentation.ts";
import { toRecordRequest } from "../../dns/transfer/record-request.ts";
import { ttlSecondsMax, ttlSecondsMin } from "../../dns/rules/ttl.ts";
import { composeLine } from "../../dns/zone-file/compose.ts";
import { parseZoneFile } from "../../dns/zone-file/parse.ts";
import { UserError } from "../../base/user-error.ts";
import { shownType } from "./shown-type.ts";

export interface PlannedRecord {
  readonly draft: RecordDraft;
  /** Where it came from: `Line 12`, or its name and type. */
  readonly place: string;
}

export interface LeftOut {
  readonly name: string;
  readonly type: string;
  readonly content: string;
  readonly reason: "zone" | "type" | "data";
}

interface MovedTtl {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly to: number;
}

export interface ImportPlan {
  readonly records: readonly PlannedRecord[];
  readonly leftOut: readonly LeftOut[];
  readonly movedTtls: readonly MovedTtl[];
}

export interface Part {
  readonly text: string;
  /** Of each line. */
  readonly places: readonly string[];
}

/** The server checks by its configuration; here everything passes that some server may take. */
const rules = {
  nameRules: "dns",
  platformAddresses: [],
  commentCharactersMax: Infinity,
  tagsMax: Infinity,
} as const;

const problemsShownMax = 100;

/** A file that is too large to be sent as it is. */
export function planFile(
  text: string,
  options: { readonly zoneName: string; readonly proxied: boolean },
): ImportPlan {
  const drafts = new Drafts(options.zoneName);
  try {
    for (const { request, line } of parseZoneFile(text, { ...options, recordsMax: Infinity })) {
      drafts.add(request, `Line ${line}`);
    }
  } catch (error) {
    if (!(error instanceof ZoneError)) throw error;
    throw new UserError(error.problems.map((problem) => describe(problem)).join("\n"));
  }
  return { records: drafts.finish(), leftOut: [], movedTtls: [] };
}

/** A zone that was transferred. */
export function planTransfer(records: readonly ResourceRecord[], zoneName: string): ImportPlan {
  const drafts = new Drafts(zoneName);
  const leftOut: LeftOut[] = [];
  const movedTtls: MovedTtl[] = [];
  for (const record of records) {
    const type = shownType(record.type);
    const { name } = record;
    const request = requestOf(record, zoneName);
    if (typeof request === "string") {
      leftOut.push({ name, type, content: formatData(record.type, record.data), reason: request });
      continue;
    }
    const { ttl } = request;
    const to = Math.min(Math.max(ttl, ttlSecondsMin), ttlSecondsMax);
    if (to !== ttl) movedTtls.push({ name, type, ttl, to });
    drafts.add({ ...request, name: `${name}.`, ttl: to }, `${name} ${type}`);
  }
  return { records: drafts.finish(), leftOut, movedTtls };
}

/** A request, or why there is none. */
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

class Drafts {
  readonly #zoneName: string;
  readonly #records: PlannedRecord[] = [];
  readonly #problems: string[] = [];

  constructor(zoneName: string) {
    this.#zoneName = zoneName;
  }

  add(request: RecordRequest, place: string): void {
    const report = (problem: Problem) => void this.#problems.push(`${place}: ${describe(problem)}`);
    const before = this.#problems.length;
    const draft = acceptRecord(request, { ...rules, zoneName: this.#zoneName }, report);
    if (draft !== undefined && this.#problems.length === before) {
      this.#records.push({ draft, place });
    }
  }

  /**
   * What is proxied comes last: it must lead to an address that is there by then.
   *
   * @throws UserError with everything that is wrong
   */
  finish(): readonly PlannedRecord[] {
    const problems = this.#problems;
    if (problems.length === 0) {
      return this.#records.toSorted(
        (one, other) => Number(one.draft.proxied) - Number(other.draft.proxied),
      );
    }
    const more = problems.length - problemsShownMax;
    const lines = problems.slice(0, problemsShownMax);
    if (more > 0) lines.push(`… and ${more} more.`);
    throw new UserError(lines.join("\n"));
  }
}

function describe({ message, code }: Problem): string {
  return `${message} (${code})`;
}

export function* partsOf(
  records: readonly PlannedRecord[],
  max: { readonly bytes: number; readonly records: number },
): Generator<Part> {
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

/** `Line 3: …` of a part is about the record that stands there. */
export function placeProblem(message: string, { places }: Part): string {
  return message.replace(/^Line (\d+)(?=: )/, (line, number: string) => {
    return places[Number(number) - 1] ?? line;
  });
}
