/**
 * The one table of what can go wrong: code, HTTP status, message. Codes and messages of the first
 * part are the deployed service's. Deviation: it has more codes, which are not on record; where
 * one is needed the second part chooses it, from 9400 upwards. Deviation: a validation problem
 * comes as itself, several at once, and not in the chain of a 1004.
 */
export interface Problem {
  readonly code: number;
  readonly status: number;
  readonly message: string;
  readonly error_chain?: readonly { readonly code: number; readonly message: string }[];
}

export type Report = (problem: Problem) => void;

/** Ends a transaction: whatever it changed is rolled back and the problems are the answer. */
export class ZoneError extends Error {
  override name = "ZoneError";
  readonly problems: readonly Problem[];
  constructor(problems: readonly Problem[]) {
    super(problems.map(({ code, message }) => `${message} (${code})`).join(" "));
    this.problems = problems;
  }
}

function of(status: number, code: number, message: string): Problem {
  return { code, status, message };
}

/** A 6003 always says in its chain which header is malformed. */
function malformedHeader(code: number, header: string): Problem {
  const chain = [{ code, message: `Invalid format for ${header} header` }];
  return { ...of(400, 6003, "Invalid request headers"), error_chain: chain };
}

export const problem = {
  identicalRecord: () => of(400, 81058, "An identical record already exists."),
  hostTaken: () => of(400, 81053, "An A, AAAA, or CNAME record with that host already exists."),
  cnameTaken: () => of(400, 81054, "A CNAME record with that host already exists."),
  nsTaken: () => of(400, 81056, "NS records with that host already exist."),
  recordMissing: () => of(404, 81044, "Record does not exist."),
  recordQuota: () => of(400, 81045, "The record quota has been exceeded."),
  nameInvalid: () => of(400, 9000, "DNS name is invalid."),
  targetNotProxied: (target: string) =>
    of(400, 9003, `Target ${target} is not allowed for a proxied record.`),
  notProxiable: () => of(400, 9004, "This record type cannot be proxied."),
  ipv4Invalid: () => of(400, 9005, "Content for A record must be a valid IPv4 address."),
  ipv6Invalid: () => of(400, 9005, "Content for AAAA record must be a valid IPv6 address."),
  contentInvalid: (type: string) => of(400, 9007, `Content for ${type} record is invalid.`),
  priorityRange: () => of(400, 9008, "priority must be between 0 and 65535."),
  contentTooLong: (bytes: number) =>
    of(400, 9015, `Record content exceeds the allowed length of ${bytes} wire format bytes.`),
  ttlRange: () => of(400, 9021, "TTL must be between 60 and 86400 seconds, or 1 for Automatic."),
  requiredField: (field: string) => of(400, 9100, `${field} is a required field.`),
  requiredDataField: (field: string) => of(400, 9100, `${field} is a required data field.`),
  contentType: (type: string) => of(400, 9207, `Content-type must be ${type}.`),
  malformedJson: () => of(400, 6007, "Malformed JSON in request body"),
  tagQuota: (count: number, quota: number) =>
    of(400, 9300, `DNS record has ${count} tags, exceeding the quota of ${quota}.`),
  commentTooLong: (max: number) =>
    of(400, 9313, `DNS record comment exceeds the maximum length of ${max} characters.`),
  noRoute: (path: string) =>
    of(404, 7003, `Could not route to ${path}, perhaps your object identifier is invalid?`),
  methodNotAllowed: (method: string) =>
    of(405, 7001, `Method ${method} not available for that URI.`),
  zoneNameInvalid: () => of(400, 1001, "Invalid zone name."),
  zoneExists: (name: string) => of(400, 1061, `${name} already exists`),
  noCredentials: () => of(400, 9106, "Missing X-Auth-Key, X-Auth-Email or Authorization headers"),
  malformedEmail: () => malformedHeader(6102, "X-Auth-Email"),
  malformedKey: () => malformedHeader(6103, "X-Auth-Key"),
  malformedAuthorization: () => malformedHeader(6111, "Authorization"),
  unknownKey: () => of(403, 9103, "Unknown X-Auth-Key or X-Auth-Email"),
  invalidToken: () => of(403, 9109, "Invalid access token"),
  notAllowed: () => of(403, 10000, "Authentication error"),
  rateLimited: () => of(429, 10100, "Rate limit reached. Please wait and try again later."),

  otherTypeTaken: () =>
    of(400, 81055, "Records of another type with that host already exist; NS cannot join them."),
  typeUnknown: (type: string) => of(400, 9400, `DNS record type ${type} is not supported.`),
  typeManaged: (type: string, place: string) =>
    of(400, 9401, `${type} records are created with the zone; change them with ${place}.`),
  notAnObject: (field: string) => of(400, 9402, `${field} must be an object.`),
  notABoolean: (field: string) => of(400, 9403, `${field} must be true or false.`),
  notAString: (field: string) => of(400, 9404, `${field} must be a string.`),
  notAList: (field: string, of_: string) => of(400, 9405, `${field} must be a list of ${of_}.`),
  integerRange: (field: string, min: number, max: number) =>
    of(400, 9406, `${field} must be a whole number between ${min} and ${max}.`),
  decimalRange: (field: string, min: number, max: number) =>
    of(400, 9407, `${field} must be a number between ${min} and ${max}.`),
  notAHostname: (field: string) => of(400, 9408, `${field} must be a hostname.`),
  notHexadecimal: (field: string) =>
    of(400, 9409, `${field} must be an even number of hexadecimal digits.`),
  notBase64: (field: string) => of(400, 9410, `${field} must be base64 with padding.`),
  textInvalid: (field: string, rule: string) => of(400, 9411, `${field} must be ${rule}.`),
  notOneOf: (field: string, values: readonly (string | number)[]) =>
    of(400, 9412, `${field} must be one of ${values.join(", ")}.`),
  octetLength: (field: string, bytes: number) =>
    of(400, 9413, `${field} must be ${bytes} octets long for its type.`),
  serviceParameter: (reason: string) => of(400, 9414, `value is invalid: ${reason}.`),
  exclusive: (one: string, other: string) =>
    of(400, 9415, `${one} and ${other} cannot both be set.`),
  quotationMarks: () => of(400, 9416, "Content for TXT record has inconsistent quotation marks."),
  spf: (reason: string) => of(400, 9421, `SPF record is invalid: ${reason}.`),
  dkim: (reason: string) => of(400, 9422, `DKIM record is invalid: ${reason}.`),
  dmarc: (reason: string) => of(400, 9423, `DMARC record is invalid: ${reason}.`),
  wrongName: (kind: string, rule: string) => of(400, 9424, `${kind} records belong at ${rule}.`),
  platformAddress: (address: string) =>
    of(400, 9431, `Content cannot be ${address}, an address of the platform itself.`),
  dsAtApex: () => of(400, 9432, "DS records belong below the apex, beside a delegation."),
  tagInvalid: (tag: string) =>
    of(400, 9433, `Tag ${tag} is invalid: write name:value, name of letters, digits, - and _.`),
  commentInvalid: () => of(400, 9434, "comment must not contain control characters."),
  settingNotForType: (setting: string, type: string) =>
    of(400, 9435, `Setting ${setting} does not apply to ${type} records.`),
  valueInvalid: (field: string, rule: string) => of(400, 9436, `${field} must be ${rule}.`),
  bodyTooLarge: (bytes: number) => of(413, 9440, `Request body is larger than ${bytes} bytes.`),
  bodyNotAnObject: () => of(400, 9441, "Request body must be a JSON object."),
  batchQuota: (max: number) => of(400, 9442, `A batch holds at most ${max} operations.`),
  batchEmpty: () =>
    of(400, 9443, "A batch needs at least one of deletes, patches, puts and posts."),
  fileMissing: () => of(400, 9444, "file is a required field of the form."),
  fileTooLarge: (bytes: number) => of(400, 9445, `Zone file is larger than ${bytes} bytes.`),
  zoneFile: (line: number, reason: string) => of(400, 9446, `Line ${line}: ${reason}.`),
  configuration: (reason: string) => of(500, 9450, `Configuration of [dns]: ${reason}`),
  internal: () => of(500, 9500, "Internal error"),
} as const;

/** A problem found while a zone file is read carries the line it stands on. */
export function atLine(found: Problem, line: number): Problem {
  return { ...found, message: `Line ${line}: ${found.message}` };
}

/**
 * Runs a check that reports problems.
 *
 * @throws ZoneError with all reported problems
 */
export function requireValid<Result>(
  check: (report: Report) => Result,
): Exclude<Result, undefined> {
  const problems: Problem[] = [];
  const result = check((found) => problems.push(found));
  if (problems.length > 0 || result === undefined) throw new ZoneError(problems);
  return result as Exclude<Result, undefined>;
}
