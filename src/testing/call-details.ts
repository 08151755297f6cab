/** What matchers want of a call, and what they refuse because no call can have it. */
import { nearest, unknownWord } from "../base/nearest.ts";
import { unknownBucketText, type Call } from "../store/core/fault.ts";
import { callMethods } from "../store/core/errors.ts";
import { bindingMethods, type BindingCall, type BindingKind } from "./binding-call.ts";

/** Without these, no field of one kind of call could be read before its kind is known. */
type Absent<Other, Own> = { readonly [Field in Exclude<keyof Other, keyof Own>]?: never };

/** A call of a bucket or of another binding, as `calls` of `ledge/test` has them. */
export type AnyCall =
  | (Call & Absent<BindingCall, Call>)
  | (BindingCall & Absent<Call, BindingCall>);

/** What a call must have, besides its method and its key. */
export interface CallDetails {
  /** The name of the bucket, as in the configuration file */
  bucket?: string;
  /** The name in `env`, of a bucket or of another binding; `"caches"` for all caches */
  binding?: string;
  /** The size of the content that a call of a bucket wrote or read */
  bytes?: number;
  /** `"none"`: there is no such key, object or row, or a condition did not hold */
  outcome?: AnyCall["outcome"];
  /** The code of the error of a bucket: 10001 */
  code?: number;
  /** The status of the response to a `fetch()`: of the global function, a service or a Durable Object */
  status?: number;
  /** The exact number of matching calls; without it, one or more */
  times?: number;
}

/** The names that calls can have. */
export interface KnownNames {
  /** The buckets of all scripts of the runtime */
  readonly buckets: readonly string[];
  /** The names of the script's buckets, by their bindings */
  readonly bucketOfBinding: ReadonlyMap<string, string>;
  /** The other bindings */
  readonly kinds: ReadonlyMap<string, BindingKind>;
}

/**
 * The details with the name of a bucket in place of its binding.
 *
 * @param accepted what the matcher accepts
 * @throws TypeError if no call can have these details
 */
export function checkCallDetails(
  details: CallDetails,
  accepted: Accepted,
  names: KnownNames | undefined,
): CallDetails {
  const { outcome } = details;
  if (outcome !== undefined && !outcomes.includes(outcome)) {
    throw new TypeError(unknownWord("outcome", outcome, outcomes));
  }
  if (names === undefined) return details;
  const { binding, ...others } = details;
  const bucket = names.bucketOfBinding.get(binding ?? "");
  if (bucket !== undefined) {
    return checkCallDetails({ bucket, ...others }, accepted, names);
  }
  if (details.bucket !== undefined && !names.buckets.includes(details.bucket)) {
    throw new TypeError(unknownBucketText(details.bucket, names.buckets, "no call can match"));
  }
  const kind = names.kinds.get(binding ?? "");
  if (binding !== undefined && kind === undefined) {
    throw new TypeError(unknownBindingText(binding, names));
  }
  if (kind !== undefined) {
    const field = (["bucket", "bytes", "code"] as const).find(
      (each) => details[each] !== undefined,
    );
    if (field !== undefined) throw new TypeError(`Calls of ${binding} have no "${field}".`);
  }
  if (kind !== undefined && details.status !== undefined && !kindsWithStatus.has(kind)) {
    throw new TypeError(`Calls of ${binding} have no "status".`);
  }
  if ("methods" in accepted) checkMethods(accepted.methods, details, kind, names);
  else checkKinds(accepted, details, kind, names);
  return details;
}

const kindsWithStatus: ReadonlySet<BindingKind> = new Set(["fetch", "service", "durable_objects"]);

type Accepted =
  | { readonly methods: readonly string[] }
  | { readonly kinds: readonly BindingKind[]; readonly what: string };

function checkKinds(
  { kinds, what }: Extract<Accepted, { kinds: unknown }>,
  { bucket, binding }: CallDetails,
  kind: BindingKind | undefined,
  names: KnownNames,
): void {
  if (bucket !== undefined) throw new TypeError(`The bucket "${bucket}" is no ${what}.`);
  if (kind !== undefined && !kinds.includes(kind)) {
    throw new TypeError(`${binding} is no ${what}.`);
  }
  if (kinds.some((each) => [...names.kinds.values()].includes(each))) return;
  throw new TypeError(`The script has no ${what}, so no call can match.`);
}

const outcomes: readonly AnyCall["outcome"][] = ["ok", "none", "error"];

/** The methods of an RPC class are not known, so every name may be one of them. */
function checkMethods(
  methods: readonly string[],
  { bucket, binding }: CallDetails,
  kind: BindingKind | undefined,
  { kinds, buckets }: KnownNames,
): void {
  const ofBuckets = binding === undefined && buckets.length > 0 ? [...callMethods] : [];
  const ofBindings =
    bucket !== undefined ? [] : kind !== undefined ? [kind] : [...new Set(kinds.values())];
  const known = [...ofBuckets];
  for (const each of ofBindings) {
    const own = bindingMethods[each];
    if (own === null) return;
    known.push(...own);
  }
  if (methods.some((method) => known.includes(method))) return;
  const owner = binding ?? (bucket === undefined ? "the script's bindings" : "a bucket");
  throw new TypeError(
    `"${methods[0]}" is no method of ${owner}. Use ${[...new Set(known)].join(", ")}.`,
  );
}

function unknownBindingText(binding: string, names: KnownNames): string {
  const known = [...names.bucketOfBinding.keys(), ...names.kinds.keys()];
  const guess = nearest(binding, known);
  return (
    `The script has no binding "${binding}" whose calls are recorded, so no call can match. ` +
    (guess === null ? "" : `Did you mean "${guess}"? `) +
    `Bindings: ${known.join(", ")}.`
  );
}
