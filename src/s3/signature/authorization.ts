/**
 * What a request says about its signature: in the `Authorization` header, or in the query of a
 * presigned URL.
 */
import { S3Error } from "../s3-error.ts";
import { headerOf, type SignedRequest } from "./signed-request.ts";
import { parseQuery } from "./uri-encoding.ts";

export const algorithm = "AWS4-HMAC-SHA256";
/** The deployed service's limit of a presigned URL: seven days. */
const expiresSecondsMax = 7 * 24 * 60 * 60;

export interface Scope {
  /** `yyyymmdd` */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

export interface Authorization {
  readonly accessKeyId: string;
  readonly scope: Scope;
  /** `yyyymmddThhmmssZ`, as the client has signed it. */
  readonly dateText: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** In lower case, in the order of the request. */
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** What the client has signed as the hash of the body, or a word for another way. */
  readonly payload: string;
  /** Of a presigned URL: how long the signature is valid. */
  readonly expiresSeconds?: number;
}

/**
 * @returns `null` for an anonymous request
 * @throws S3Error for an authorization that is incomplete or not valid
 */
export function parseAuthorization(request: SignedRequest): Authorization | null {
  const header = headerOf(request, "authorization");
  if (header !== null) return parseHeader(request, header);
  const parameters = new Map(parseQuery(request.query));
  return parameters.has("X-Amz-Algorithm") || parameters.has("X-Amz-Signature")
    ? parseParameters(request, parameters)
    : null;
}

function parseHeader(request: SignedRequest, header: string): Authorization {
  if (!header.startsWith(`${algorithm} `)) throw unsupportedAlgorithm();
  const payload = headerOf(request, "x-amz-content-sha256");
  if (payload === null) throw new S3Error("InvalidRequest", "Missing x-amz-content-sha256");
  const fields = new Map(
    header
      .slice(algorithm.length)
      .split(",")
      .map((field): [string, string] => {
        const separator = field.indexOf("=");
        return [field.slice(0, separator).trim(), field.slice(separator + 1).trim()];
      }),
  );
  const dateHeader = headerOf(request, "x-amz-date") === null ? "date" : "x-amz-date";
  const dateText = headerOf(request, dateHeader);
  if (dateText === null) {
    throw new S3Error("InvalidArgument", "No date provided in x-amz-date nor date header");
  }
  return {
    ...parseCredential(fields.get("Credential") ?? "", dateText),
    ...parseDate(dateText, `'${dateHeader}' header`),
    signedHeaders: parseSignedHeaders(fields.get("SignedHeaders") ?? ""),
    signature: fields.get("Signature") ?? "",
    payload,
  };
}

function parseParameters(
  request: SignedRequest,
  parameters: ReadonlyMap<string, string>,
): Authorization {
  if (parameters.get("X-Amz-Algorithm") !== algorithm) throw unsupportedAlgorithm();
  const dateText = requiredParameter(parameters, "X-Amz-Date");
  const expiresText = requiredParameter(parameters, "X-Amz-Expires");
  const expiresSeconds = Number(expiresText);
  const isWhole = /^\d+$/.test(expiresText);
  if (!isWhole || expiresSeconds < 1 || expiresSeconds > expiresSecondsMax) {
    throw new S3Error(
      "InvalidArgument",
      `X-Amz-Expires must be a number of seconds between 1 and ${expiresSecondsMax}`,
    );
  }
  return {
    ...parseCredential(requiredParameter(parameters, "X-Amz-Credential"), dateText),
    ...parseDate(dateText, "'X-Amz-Date' parameter"),
    signedHeaders: parseSignedHeaders(requiredParameter(parameters, "X-Amz-SignedHeaders")),
    signature: requiredParameter(parameters, "X-Amz-Signature"),
    payload:
      parameters.get("X-Amz-Content-Sha256") ??
      headerOf(request, "x-amz-content-sha256") ??
      "UNSIGNED-PAYLOAD",
    expiresSeconds,
  };
}

function requiredParameter(parameters: ReadonlyMap<string, string>, name: string): string {
  const value = parameters.get(name);
  if (value === undefined) throw new S3Error("InvalidArgument", `Missing ${name}`);
  return value;
}

function unsupportedAlgorithm(): S3Error {
  return new S3Error("InvalidRequest", `Please use ${algorithm}`);
}

/** `access-key-id/yyyymmdd/region/s3/aws4_request`. An access key can contain slashes. */
function parseCredential(
  credential: string,
  dateText: string,
): Pick<Authorization, "accessKeyId" | "scope"> {
  const words = credential.split("/");
  if (words.length < 5) {
    const text = "Credential sigv4 header should have at least 5 slash-separated parts, not ";
    throw new S3Error("InvalidArgument", `${text}${words.length}`);
  }
  const [date, region, service, end] = words.slice(-4) as [string, string, string, string];
  if (service !== "s3") {
    throw new S3Error("InvalidArgument", `Credential service should be s3, not ${service}`);
  }
  if (end !== "aws4_request") {
    const text = "Credential termination string should be aws4_request, not ";
    throw new S3Error("InvalidArgument", `${text}${end}`);
  }
  if (dateText.slice(0, 8) !== date) {
    throw new S3Error(
      "InvalidArgument",
      `Credential signed date ${date} does not match ${dateText.slice(0, 8)} from 'x-amz-date' header`,
    );
  }
  return { accessKeyId: words.slice(0, -4).join("/"), scope: { date, region, service } };
}

function parseDate(text: string, source: string): Pick<Authorization, "dateText" | "time"> {
  const iso = text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z");
  const time = iso === text ? NaN : Date.parse(iso);
  if (Number.isNaN(time)) {
    throw new S3Error(
      "InvalidArgument",
      `Date provided in ${source} (${text}) didn't parse successfully`,
    );
  }
  return { dateText: text, time };
}

function parseSignedHeaders(text: string): string[] {
  const names = text.toLowerCase().split(";");
  // Without the host, the request could be sent to another bucket.
  if (!names.includes("host")) throw new S3Error("Unauthorized");
  return names;
}
