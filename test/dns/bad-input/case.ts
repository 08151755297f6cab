/**
 * Requests that must fail, each with its code, status and message. The messages are literals, and
 * not taken from the worker's table.
 */
export interface BadInput {
  readonly title: string;
  readonly method: string;
  /** Relative to the zone. The placeholder {id} is the id of an A record. */
  readonly path: string;
  readonly body?: unknown;
  readonly raw?: { readonly type: string | null; readonly body: string | Uint8Array<ArrayBuffer> };
  readonly status: number;
  readonly errors: readonly (readonly [code: number, message: string])[];
}

export type Body = Record<string, unknown>;
export type Failure = readonly [code: number, message: string];

export const required = (field: string): Failure => [9100, `${field} is a required field.`];
const requiredData = (field: string): Failure => [9101, `${field} is a required data field.`];
export const range = (field: string, max: number, min = 0): Failure => [
  9406,
  `${field} must be a whole number between ${min} and ${max}.`,
];
export const decimal = (field: string, min: number, max: number): Failure => [
  9407,
  `${field} must be a number between ${min} and ${max}.`,
];
export const host = (field: string): Failure => [9408, `${field} must be a hostname.`];
export const hex = (field: string): Failure => [
  9409,
  `${field} must be an even number of hexadecimal digits.`,
];
export const base64 = (field: string): Failure => [9410, `${field} must be base64 with padding.`];
export const text = (field: string, rule: string): Failure => [9411, `${field} must be ${rule}.`];
export const octets = (field: string, bytes: number): Failure => [
  9413,
  `${field} must be ${bytes} octets long for its type.`,
];
export const parameter = (reason: string): Failure => [9414, `value is invalid: ${reason}.`];
export const boolean = (field: string): Failure => [9403, `${field} must be true or false.`];
export const nameInvalid: Failure = [9000, "DNS name is invalid."];
export const ttlInvalid: Failure = [
  9021,
  "TTL must be between 60 and 86400 seconds, or 1 for Automatic.",
];
export const priorityInvalid: Failure = [9008, "priority must be between 0 and 65535."];
export const quotes: Failure = [9416, "Content for TXT record has inconsistent quotation marks."];
export const content = (type: string): Failure => [9007, `Content for ${type} record is invalid.`];
export const ipv4: Failure = [9005, "Content for A record must be a valid IPv4 address."];
export const ipv6: Failure = [9005, "Content for AAAA record must be a valid IPv6 address."];
export const missing: Failure = [81044, "Record does not exist."];
export const identical: Failure = [81058, "An identical record already exists."];

/** Every file of this folder adds its cases when it is loaded. */
export const cases: BadInput[] = [];

export function post(body: unknown, ...errors: Failure[]): void {
  cases.push({
    title: `POST ${JSON.stringify(body)?.slice(0, 120)}`,
    method: "POST",
    path: "/dns_records",
    body,
    status: 400,
    errors,
  });
}

export function on(
  method: string,
  path: string,
  body: unknown,
  status: number,
  ...errors: Failure[]
): void {
  const title = `${method} ${path} ${JSON.stringify(body)?.slice(0, 100) ?? ""}`;
  cases.push({ title, method, path, body, status, errors });
}

/** A valid record with one change. */
export function variations(good: Body, changes: readonly (readonly [Body, ...Failure[]])[]): void {
  for (const [change, ...errors] of changes) {
    const data = change["data"] as Body | undefined;
    const merged = { name: "new", ...good, ...change };
    const body =
      data === undefined ? merged : { ...merged, data: { ...(good["data"] as Body), ...data } };
    post(body, ...errors);
  }
}

/** A valid record with a field of `data` that is missing or has one of the values. */
export function fields(good: Body, field: string, failure: Failure, ...values: unknown[]): void {
  variations(good, [
    [{ data: { [field]: undefined } }, requiredData(field)],
    ...values.map((value) => [{ data: { [field]: value } }, failure] as const),
  ]);
}

/** All kinds of invalid numbers. */
export function numbers(good: Body, max: number, ...names: string[]): void {
  for (const field of names) {
    variations(good, [[{ data: { [field]: null } }, requiredData(field)]]);
    fields(good, field, range(field, max), -1, max + 1, 1.5, "x", "", true);
  }
}

/** Sends a body unchanged. */
export function raw(
  method: string,
  path: string,
  type: string | null,
  body: string | Uint8Array<ArrayBuffer>,
  status: number,
  ...errors: Failure[]
): void {
  const title = `${method} ${path} as ${type}: ${typeof body === "string" ? body.slice(0, 40) : `${body.length} octets`}`;
  cases.push({ title, method, path, raw: { type, body }, status, errors });
}
