/**
 * The policy of a form (POST Object): what the signer lets a browser upload, as JSON in base64.
 *
 *     { "expiration": "2030-01-01T00:00:00Z",
 *       "conditions": [ {"bucket": "photos"}, ["starts-with", "$key", "user/"],
 *                       ["content-length-range", 1, 1048576] ] }
 *
 * Every field of the form needs a condition, because a field without one would be the choice of the
 * browser. The bucket counts as a field.
 *
 * Deviation: the deployed service has no forms. Rules and texts are AWS's.
 */
import { StoreError } from "../store/core/errors.ts";
import { S3Error } from "./s3-error.ts";

export interface PostPolicy {
  /** Milliseconds since the epoch */
  readonly expires: number;
  readonly conditions: readonly FieldCondition[];
  /** The sizes that every `content-length-range` allows. */
  readonly size: SizeRange;
}

interface FieldCondition {
  readonly operator: "eq" | "starts-with";
  /** In lower case. */
  readonly name: string;
  readonly value: string;
}

interface SizeRange {
  readonly min: number;
  readonly max: number;
}

/** The fields of every form, which no condition names. */
const freeFields = new Set(["awsaccesskeyid", "file", "policy", "signature", "x-amz-signature"]);
const freePrefix = "x-ignore-";

/**
 * @param text the field `policy`: JSON in base64
 * @throws S3Error InvalidPolicyDocument
 */
export function parsePolicy(text: string): PostPolicy {
  const document = parseRequestDocument(text);
  const { expiration, conditions } = document;
  if (expiration === undefined) throw invalidPolicy("Policy missing expiration.");
  if (conditions === undefined) throw invalidPolicy("Policy missing conditions.");
  if (!Array.isArray(conditions)) throw invalidPolicy("Invalid conditions: not a list.");
  const ranges = conditions.filter(isSizeCondition).map(parseSizeRange);
  return {
    expires: parseExpiration(expiration),
    conditions: conditions.filter((each) => !isSizeCondition(each)).map(parseCondition),
    size: {
      min: Math.max(0, ...ranges.map(({ min }) => min)),
      max: Math.min(Infinity, ...ranges.map(({ max }) => max)),
    },
  };
}

function parseRequestDocument(text: string): Readonly<Record<string, unknown>> {
  try {
    const bytes = Uint8Array.from(atob(text.trim()), (octet) => octet.charCodeAt(0));
    const document: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (isObject(document)) return document;
  } catch {
    // Text that is not base64, not UTF-8 or not JSON.
  }
  throw invalidPolicy("Invalid JSON.");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** ISO 8601 in UTC. */
function parseExpiration(value: unknown): number {
  const isDate =
    typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value);
  const time = isDate ? Date.parse(value) : NaN;
  if (Number.isNaN(time)) throw invalidPolicy(`Invalid 'expiration' value: '${String(value)}'`);
  return time;
}

function isSizeCondition(condition: unknown): condition is readonly unknown[] {
  return Array.isArray(condition) && nameOf(condition[0]) === "content-length-range";
}

function parseSizeRange(condition: readonly unknown[]): SizeRange {
  const [min, max] = condition.slice(1).map(wholeNumber);
  if (condition.length !== 3 || min == null || max == null) {
    throw invalidPolicy(`Invalid Condition: ${JSON.stringify(condition)}`);
  }
  return { min, max };
}

/** A number, or its digits. */
function wholeNumber(value: unknown): number | null {
  const text = typeof value === "number" ? String(value) : value;
  return typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** `{"name": "value"}`, `["eq", "$name", "value"]` or `["starts-with", "$name", "value"]` */
function parseCondition(condition: unknown): FieldCondition {
  if (isObject(condition)) return parseSimpleCondition(condition);
  const [operator, name, value] = Array.isArray(condition) ? condition : [];
  const operation = nameOf(operator);
  const isKnown = operation === "eq" || operation === "starts-with";
  const isValid = typeof name === "string" && name.startsWith("$") && typeof value === "string";
  if (!isKnown || !isValid || (condition as unknown[]).length !== 3) {
    throw invalidPolicy(`Invalid Condition: ${JSON.stringify(condition)}`);
  }
  return { operator: operation, name: name.slice(1).toLowerCase(), value };
}

function parseSimpleCondition(condition: Readonly<Record<string, unknown>>): FieldCondition {
  const [entry, second] = Object.entries(condition);
  if (entry === undefined || second !== undefined) {
    throw invalidPolicy(
      "Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.",
    );
  }
  const [name, value] = entry;
  if (typeof value !== "string") {
    throw invalidPolicy("Invalid Simple-Condition: value must be a string.");
  }
  return { operator: "eq", name: name.toLowerCase(), value };
}

function nameOf(value: unknown): string | null {
  return typeof value === "string" ? value.toLowerCase() : null;
}

/**
 * Checks everything but the size of the file.
 *
 * @param fields by their names in lower case, with the bucket of the request
 * @param now milliseconds since the epoch
 * @throws S3Error AccessDenied
 */
export function checkPolicy(
  { expires, conditions }: PostPolicy,
  fields: ReadonlyMap<string, string>,
  now: number,
): void {
  if (now >= expires) throw denied("Policy expired.");
  const failed = conditions.find((condition) => !holds(condition, fields.get(condition.name)));
  if (failed !== undefined) {
    const { operator, name, value } = failed;
    const text = JSON.stringify([operator, `$${name}`, value]);
    throw denied(`Policy Condition failed: ${text}`);
  }
  const allowed = new Set(conditions.map(({ name }) => name));
  const extra = Array.from(fields.keys()).filter(
    (name) => !allowed.has(name) && !freeFields.has(name) && !name.startsWith(freePrefix),
  );
  if (extra.length > 0) throw denied(`Extra input fields: ${extra.join(", ")}`);
}

/** A condition on a field that the form does not have fails, whatever the condition allows. */
function holds({ operator, value }: FieldCondition, actual: string | undefined): boolean {
  if (actual === undefined) return false;
  return operator === "eq" ? actual === value : actual.startsWith(value);
}

/** Passes on content while its size is allowed. */
export async function* limitSize(
  content: AsyncIterable<Uint8Array>,
  { min, max }: SizeRange,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    if (bytes > max) throw new StoreError(100100);
    yield piece;
  }
  if (bytes < min) throw new StoreError(10011);
}

function invalidPolicy(text: string): S3Error {
  return new S3Error("InvalidPolicyDocument", `Invalid Policy: ${text}`);
}

function denied(text: string): S3Error {
  return new S3Error("AccessDenied", `Invalid according to Policy: ${text}`);
}
