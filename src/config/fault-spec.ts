/**
 * Faults in one line of text, as `--fault` and the explorer take them. The text before the first colon
 * says what the fault is about: `dns`, or a method of buckets. No method has the name `dns`.
 *
 *     dns:KIND:TARGET[:OPTION,…]               queries (below)
 *     METHOD:BUCKET[/KEY]:EFFECT[:OPTION,…]    calls of buckets (`bucket-fault-spec.ts`)
 *
 * Of a fault of queries:
 *
 * - KIND is a kind of `QueryFaultInput`, with hyphens for underscores.
 * - TARGET is NAME or NAME/TYPE. `*` in NAME stands for any characters. For lame, propagation-delay and
 *   lost-notify, NAME is a zone: the name and all names below it.
 * - An OPTION is FIELD=VALUE, with the fields of `QueryFaultInput`. A length of time alone is the field
 *   `by`. `content` may be given several times, for several records.
 *
 * Only the first three colons separate, because addresses have colons.
 */
import { nearest, unknownWord } from "../base/nearest.ts";
import { UserError } from "../base/user-error.ts";
import {
  QueryFaultError,
  queryFaultKinds,
  type QueryFaultInput,
  type QueryFaultKind,
} from "../dns/fault/query-fault.ts";
import { readQueryFault } from "../dns/fault/read-fault.ts";
import {
  BucketFaultError,
  parseBucketFault,
  toStoreFault,
} from "../store/config/bucket-fault-spec.ts";
import type { StoreFault } from "../store/core/fault.ts";

export type ParsedFault =
  | { readonly subject: "dns"; readonly fault: QueryFaultInput }
  | { readonly subject: "bucket"; readonly fault: StoreFault };

interface FaultSpecOptions {
  /** What the message of an error says before the text. */
  readonly name?: string;
  /** The buckets that exist. Without them, any name is accepted. */
  readonly bucketNames?: readonly string[];
  /** Those of them that are on an S3 service. */
  readonly remoteNames?: readonly string[];
}

const dnsExample = "dns:servfail:www.example.com/A:times=2";
const bucketExample = "put:photos/*:10001:times=2";

/** Kinds that concern a zone rather than a name. */
const zoneKinds: ReadonlySet<string> = new Set<QueryFaultKind>([
  "lame",
  "propagation_delay",
  "lost_notify",
]);
const numberFields = new Set(["nth", "times", "probability", "seed", "ttl"]);

/** @throws UserError that quotes the text */
export function parseFaultSpec(text: string, options: FaultSpecOptions = {}): ParsedFault {
  const [subject, rest] = splitAt(text, ":");
  const { name = "--fault", bucketNames, remoteNames = [] } = options;
  const fail = (message: string, ...examples: string[]): UserError =>
    new UserError(`${name} "${text}": ${message} An example is ${examples.join(" or ")}`);
  if (rest === undefined) {
    throw fail(
      'A fault begins with "dns:", or with a method of buckets such as "put:".',
      dnsExample,
      bucketExample,
    );
  }
  try {
    if (subject === "dns") return { subject, fault: parseDnsFault(rest) };
    const fault = toStoreFault(parseBucketFault(text), text);
    requireBucket(fault.bucket, bucketNames);
    requireLocal(fault.bucket, remoteNames);
    return { subject: "bucket", fault };
  } catch (error) {
    if (error instanceof QueryFaultError) throw fail(error.message, dnsExample);
    if (error instanceof BucketFaultError) throw fail(error.message, bucketExample);
    throw error;
  }
}

function requireBucket(bucket: string | null, bucketNames: readonly string[] | undefined): void {
  if (bucket === null || bucketNames === undefined || bucketNames.includes(bucket)) return;
  const guess = nearest(bucket, bucketNames);
  throw new BucketFaultError(
    `No bucket has the name "${bucket}", so the fault would hit no call. ` +
      (guess === null ? "" : `Did you mean "${guess}"? `) +
      `Buckets: ${bucketNames.join(", ") || "none"}.`,
  );
}

/** The store's owner makes faults, and calls of a remote bucket do not pass the owner. */
function requireLocal(bucket: string | null, remoteNames: readonly string[]): void {
  if (bucket === null || !remoteNames.includes(bucket)) return;
  throw new BucketFaultError(
    `The bucket "${bucket}" is on an S3 service, and only buckets of the state folder have faults.`,
  );
}

function parseDnsFault(rest: string): QueryFaultInput {
  const [word, afterKind = ""] = splitAt(rest, ":");
  const [target, options] = splitAt(afterKind, ":");
  const kind = word.replaceAll("-", "_");
  const [name, type] = splitAt(target, "/");
  if (!queryFaultKinds.some((known) => known === kind)) {
    const known = queryFaultKinds.map((each) => each.replaceAll("_", "-"));
    throw new QueryFaultError(unknownWord("kind", word, known));
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
    const read = numberFields.has(key) ? toNumber(value!) : (value ?? option);
    if (!Object.hasOwn(fault, key)) fault[key] = read;
    else if (key === "content") fault[key] = [fault[key], read].flat();
    else throw new QueryFaultError(`"${key}" is given twice.`);
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
