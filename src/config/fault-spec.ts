/**
 * Faults on the command line, as `--fault` takes them. The first word says what the fault is about; the
 * rest depends on it:
 *
 *     dns:KIND:TARGET[:OPTION,…]
 *
 * - KIND is a kind of `QueryFaultInput`, with hyphens for underscores.
 * - TARGET is NAME or NAME/TYPE. `*` in NAME stands for any characters. For lame, propagation-delay and
 *   lost-notify, NAME is a zone: the name and all names below it.
 * - An OPTION is FIELD=VALUE, with the fields of `QueryFaultInput`. A length of time alone is the field `by`.
 *
 * Only the first three colons separate, because addresses have colons. Other subjects can be added to
 * `subjects`: no subject is the prefix of another.
 */
import { UserError } from "../base/user-error.ts";
import {
  QueryFaultError,
  queryFaultKinds,
  readQueryFault,
  type QueryFaultInput,
  type QueryFaultKind,
} from "../dns/fault/query-fault.ts";
import { nearest } from "../base/nearest.ts";

export interface ParsedFault {
  readonly subject: "dns";
  readonly fault: QueryFaultInput;
}

const subjects = { dns: parseDnsFault } satisfies Record<
  ParsedFault["subject"],
  (rest: string) => QueryFaultInput
>;

/** Kinds that concern a zone rather than a name. */
const zoneKinds: ReadonlySet<string> = new Set<QueryFaultKind>([
  "lame",
  "propagation_delay",
  "lost_notify",
]);
const numberFields = new Set(["nth", "times", "probability", "seed"]);

/** @throws UserError that quotes the text */
export function parseFaultSpec(text: string): ParsedFault {
  const [subject, rest] = splitAt(text, ":");
  try {
    if (!Object.hasOwn(subjects, subject) || rest === undefined) {
      throw new QueryFaultError(`A fault begins with "${Object.keys(subjects).join(':" or "')}:".`);
    }
    return { subject: "dns", fault: subjects[subject as ParsedFault["subject"]](rest) };
  } catch (error) {
    if (!(error instanceof QueryFaultError)) throw error;
    throw new UserError(
      `--fault "${text}": ${error.message} An example is dns:servfail:www.example.com/A:times=2`,
    );
  }
}

function parseDnsFault(rest: string): QueryFaultInput {
  const [word, afterKind = ""] = splitAt(rest, ":");
  const [target, options] = splitAt(afterKind, ":");
  const kind = word.replaceAll("-", "_");
  const [name, type] = splitAt(target, "/");
  if (!queryFaultKinds.some((known) => known === kind)) {
    const known = queryFaultKinds.map((each) => each.replaceAll("_", "-"));
    const guess = nearest(word, known);
    throw new QueryFaultError(
      `"${word}" is no kind. ` +
        (guess === null ? `Use ${known.join(", ")}.` : `Did you mean "${guess}"?`),
    );
  }
  if (name === "") throw new QueryFaultError("A fault needs a name, or * for all names.");
  const place = zoneKinds.has(kind) ? "zone" : "name";
  const fault: Record<string, unknown> = {
    kind,
    // Without a place the fault is for all names.
    ...(name !== "*" && { [place]: name }),
    ...(type !== undefined && { type }),
  };
  for (const option of options?.split(",") ?? []) {
    const [field, value] = splitAt(option, "=");
    const key = value === undefined ? "by" : field;
    if (Object.hasOwn(fault, key)) throw new QueryFaultError(`"${key}" is given twice.`);
    fault[key] = numberFields.has(key) ? toNumber(value!) : (value ?? option);
  }
  readQueryFault(fault);
  return fault as unknown as QueryFaultInput;
}

/** Text that is no number stays text, which the check of the fault refuses. */
function toNumber(text: string): number | string {
  return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

/** The text before and after the first separator; `undefined` after a text without it. */
function splitAt(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}
