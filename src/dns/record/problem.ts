/**
 * The table of all problems that the API reports: code, HTTP status, message. The first part has
 * the codes and messages of the deployed service. Deviation: the deployed service has further codes
 * that are not documented; the second part uses codes of its own in their place, most of them from
 * 9400 upwards. Deviation: a response lists validation problems directly, and not in the chain of a
 * 1004.
 */
export interface Problem {
  readonly code: number;
  readonly status: number;
  readonly message: string;
  readonly error_chain?: readonly { readonly code: number; readonly message: string }[];
}

export type ReportProblem = (problem: Problem) => void;

/** Aborts a transaction: the changes are rolled back and the response lists the problems. */
export class ZoneError extends Error {
  override name = "ZoneError";
  readonly problems: readonly Problem[];
  constructor(problems: readonly Problem[]) {
    super(problems.map(({ code, message }) => `${message} (${code})`).join(" "));
    this.problems = problems;
  }
}

function make(status: number, code: number, message: string): Problem {
  return { code, status, message };
}

/** The chain of a 6003 names the malformed header. */
function malformedHeader(code: number, header: string): Problem {
  const chain = [{ code, message: `Invalid format for ${header} header` }];
  return { ...make(400, 6003, "Invalid request headers"), error_chain: chain };
}

export const problem = {
  identicalRecord: () => make(400, 81058, "An identical record already exists."),
  hostTaken: () => make(400, 81053, "An A, AAAA, or CNAME record with that host already exists."),
  cnameTaken: () => make(400, 81054, "A CNAME record with that host already exists."),
  nsTaken: () => make(400, 81056, "NS records with that host already exist."),
  recordMissing: () => make(404, 81044, "Record does not exist."),
  recordChanged: () => make(412, 9454, "The record was changed meanwhile. Nothing was saved."),
  recordQuota: () => make(400, 81045, "The record quota has been exceeded."),
  /** The deployed service has no chain here; this one has the reason. */
  nameInvalid: (reason: string) => ({
    ...make(400, 9000, "DNS name is invalid."),
    error_chain: [{ code: 9455, message: reason }],
  }),
  targetNotAllowed: (target: string) =>
    make(400, 9003, `Target ${target} is not allowed for a proxied record.`),
  notProxiable: () => make(400, 9004, "This record type cannot be proxied."),
  ipv4Invalid: () => make(400, 9005, "Content for A record must be a valid IPv4 address."),
  ipv6Invalid: () => make(400, 9005, "Content for AAAA record must be a valid IPv6 address."),
  contentInvalid: (type: string) => make(400, 9007, `Content for ${type} record is invalid.`),
  priorityRange: () => make(400, 9008, "priority must be between 0 and 65535."),
  contentTooLong: (bytes: number) =>
    make(400, 9015, `Record content exceeds the allowed length of ${bytes} wire format bytes.`),
  ttlRange: (min: number, max: number) =>
    make(400, 9021, `TTL must be between ${min} and ${max} seconds, or 1 for Automatic.`),
  requiredField: (field: string) => make(400, 9100, `${field} is a required field.`),
  requiredDataField: (field: string) => make(400, 9101, `${field} is a required data field.`),
  contentType: (type: string) => make(400, 9207, `Content-type must be ${type}.`),
  malformedJson: () => make(400, 6007, "Malformed JSON in request body"),
  tagQuota: (count: number, quota: number) =>
    make(400, 9300, `DNS record has ${count} tags, exceeding the quota of ${quota}.`),
  commentTooLong: (max: number) =>
    make(400, 9313, `DNS record comment exceeds the maximum length of ${max} characters.`),
  noRoute: (path: string) =>
    make(404, 7003, `Could not route to ${path}, perhaps your object identifier is invalid?`),
  methodNotAllowed: (method: string) =>
    make(405, 7001, `Method ${method} not available for that URI.`),
  zoneNameInvalid: () => make(400, 1001, "Invalid zone name."),
  zoneExists: (name: string) => make(400, 1061, `${name} already exists`),
  noCredentials: () => make(400, 9106, "Missing X-Auth-Key, X-Auth-Email or Authorization headers"),
  malformedEmail: () => malformedHeader(6102, "X-Auth-Email"),
  malformedKey: () => malformedHeader(6103, "X-Auth-Key"),
  malformedAuthorization: () => malformedHeader(6111, "Authorization"),
  unknownKey: () => make(403, 9103, "Unknown X-Auth-Key or X-Auth-Email"),
  invalidToken: () => make(403, 9109, "Invalid access token"),
  notAllowed: () => make(403, 10000, "Authentication error"),
  rateLimited: () => make(429, 10100, "Rate limit reached. Please wait and try again later."),

  otherTypeTaken: () =>
    make(400, 81055, "Records of another type with that host already exist; NS cannot join them."),
  typeUnknown: (type: string) => make(400, 9400, `DNS record type ${type} is not supported.`),
  typeManaged: (type: string, place: string) =>
    make(400, 9401, `${type} records are created with the zone; change them with ${place}.`),
  notAnObject: (field: string) => make(400, 9402, `${field} must be an object.`),
  notABoolean: (field: string) => make(400, 9403, `${field} must be true or false.`),
  notAString: (field: string) => make(400, 9404, `${field} must be a string.`),
  notAList: (field: string, items: string) =>
    make(400, 9405, `${field} must be a list of ${items}.`),
  integerRange: (field: string, min: number, max: number) =>
    make(400, 9406, `${field} must be a whole number between ${min} and ${max}.`),
  decimalRange: (field: string, min: number, max: number) =>
    make(400, 9407, `${field} must be a number between ${min} and ${max}.`),
  notAHostname: (field: string) => make(400, 9408, `${field} must be a hostname.`),
  notHexadecimal: (field: string) =>
    make(400, 9409, `${field} must be an even number of hexadecimal digits.`),
  notBase64: (field: string) => make(400, 9410, `${field} must be base64 with padding.`),
  textInvalid: (field: string, rule: string) => make(400, 9411, `${field} must be ${rule}.`),
  notOneOf: (field: string, values: readonly (string | number)[]) =>
    make(400, 9412, `${field} must be one of ${values.join(", ")}.`),
  octetLength: (field: string, bytes: number) =>
    make(400, 9413, `${field} must be ${bytes} octets long for its type.`),
  serviceParameter: (reason: string) => make(400, 9414, `value is invalid: ${reason}.`),
  exclusive: (one: string, other: string) =>
    make(400, 9415, `${one} and ${other} cannot both be set.`),
  quotationMarks: () => make(400, 9416, "Content for TXT record has inconsistent quotation marks."),
  spf: (reason: string) => make(400, 9421, `SPF record is invalid: ${reason}.`),
  dkim: (reason: string) => make(400, 9422, `DKIM record is invalid: ${reason}.`),
  dmarc: (reason: string) => make(400, 9423, `DMARC record is invalid: ${reason}.`),
  wrongName: (kind: string, rule: string) => make(400, 9424, `${kind} records belong at ${rule}.`),
  platformAddress: (address: string) =>
    make(400, 9431, `Content cannot be ${address}, an address of the platform itself.`),
  dsAtApex: () => make(400, 9432, "DS records belong below the apex, beside a delegation."),
  tagInvalid: (tag: string, rule: string) => make(400, 9433, `Tag ${tag} is invalid: ${rule}.`),
  commentInvalid: () => make(400, 9434, "comment must not contain control characters."),
  settingNotForType: (setting: string, type: string) =>
    make(400, 9435, `Setting ${setting} does not apply to ${type} records.`),
  settingUnknown: (name: string) => make(400, 9437, `Setting ${name} does not exist.`),
  purgeEmpty: () =>
    make(400, 9438, "Request body must have purge_everything, files, tags, hosts or prefixes."),
  notServed: (what: string) =>
    make(400, 9439, `This server has no ${what}. It serves zones and their records.`),
  valueInvalid: (field: string, rule: string) => make(400, 9436, `${field} must be ${rule}.`),
  bodyTooLarge: (bytes: number) => make(413, 9440, `Request body is larger than ${bytes} bytes.`),
  bodyNotAnObject: () => make(400, 9441, "Request body must be a JSON object."),
  batchQuota: (max: number) => make(400, 9442, `A batch holds at most ${max} operations.`),
  batchEmpty: () =>
    make(400, 9443, "A batch needs at least one of deletes, patches, puts and posts."),
  fileMissing: () => make(400, 9444, "file is a required field of the form."),
  fileTooLarge: (bytes: number) => make(400, 9445, `Zone file is larger than ${bytes} bytes.`),
  zoneFile: (line: number, reason: string) => make(400, 9446, `Line ${line}: ${reason}.`),
  configuration: (reason: string) => make(500, 9450, `Configuration of [dns]: ${reason}`),
  /** `base/host-rule.ts` has the reasons. */
  requestRefused: (reason: string) => make(403, 9451, reason),
  /** `state/disk.ts` has the reasons. */
  storage: (reason: string) => make(507, 9452, reason),
  nestedTooDeep: (levels: number) =>
    make(400, 9447, `Request body is nested more than ${levels} levels deep.`),
  queryFaultInvalid: (reason: string) => make(400, 9461, reason),
  queryLogOff: () =>
    make(409, 9462, "The log of queries is off. PUT /ledge/queries turns the log on."),
  catalogTaken: (name: string) =>
    make(
      400,
      9464,
      `${name} is the name of the catalog zone (catalog in [dns.transfers]). Choose another name for ` +
        "the zone, or for the catalog.",
    ),
  rollRefused: (reason: string) => make(409, 9463, reason),
  dnssecUnsupported: (field: string, reason: string) =>
    make(400, 9460, `${field} cannot be turned on: ${reason}.`),
  bodyIncomplete: () => make(400, 9448, "Request body ended too early."),
  internal: () => make(500, 9500, "Internal error"),
} as const;

export function atLine(found: Problem, line: number): Problem {
  return atPlace(found, `Line ${line}`);
}

/** @param place in a zone file, or an operation of a batch: `posts[2]` */
export function atPlace(found: Problem, place: string): Problem {
  return { ...found, message: `${place}: ${found.message}` };
}

/**
 * Runs a check that reports problems.
 *
 * @throws ZoneError with all reported problems
 */
export function requireValid<Result>(
  check: (report: ReportProblem) => Result,
): Exclude<Result, undefined> {
  const problems: Problem[] = [];
  const result = check((found) => problems.push(found));
  if (problems.length > 0 || result === undefined) throw new ZoneError(problems);
  return result as Exclude<Result, undefined>;
}
