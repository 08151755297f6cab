/**
 * What a request is about, and which verb it asks for.
 *
 *     path style           http://localhost:8789/photos/a.jpg     bucket photos, key a.jpg
 *     virtual-host style   http://photos.localhost:8789/a.jpg     the same
 *
 * The text of a request is taken as it is: a URL would collapse `.` and `..`, which belong to keys. The
 * table of `s3-operations.ts` decides about the verb, and about each name in the request.
 */
import { hostName } from "../base/host-rule.ts";
import { checksumPrefix } from "../http/headers.ts";
import { parseQuery } from "../http/uri.ts";
import { S3Error } from "./s3-errors.ts";
import type { S3Request } from "./s3-message.ts";
import {
  generalNames,
  operations,
  type Level,
  type Operation,
  type RefusedOperation,
  type Verb,
} from "./s3-operations.ts";

interface RequestTarget extends Pick<S3Request, "bucketName" | "key" | "bucketUrl"> {
  /** As the client has sent it. */
  readonly path: string;
  /** Without the question mark, as the client has sent it. */
  readonly query: string;
}

/**
 * @param target the request target of HTTP: a path with a query, or a whole URL
 * @param hosts the configured hosts. The name before such a host, or before `localhost`, is a bucket
 * @throws URIError for a bucket or a key that is not UTF-8 in percent-encoding
 */
export function parseTarget(target: string, host: string, hosts: readonly string[]): RequestTarget {
  // A client that takes the server for a proxy sends the whole URL.
  const local = target
    .replace(/^http:\/\/[^/?]*/i, "")
    // Octets beyond ASCII, which Node passes on as characters, in percent-encoding.
    .replace(/[\u0080-\u00ff]/g, (octet) => `%${octet.charCodeAt(0).toString(16).toUpperCase()}`);
  const end = local.indexOf("?");
  const path = end === -1 ? local : local.slice(0, end);
  const query = end === -1 ? "" : local.slice(end + 1);
  const rest = path.replace(/^\//, "");
  const virtualBucket = bucketOfHost(host, hosts);
  if (virtualBucket !== null) {
    const key = decodeURIComponent(rest);
    return { bucketName: virtualBucket, key, path, query, bucketUrl: `http://${host}` };
  }
  const [bucketText = ""] = rest.split("/", 1);
  return {
    bucketName: decodeURIComponent(bucketText),
    key: decodeURIComponent(rest.slice(bucketText.length + 1)),
    path,
    query,
    bucketUrl: `http://${host}/${bucketText}`,
  };
}

/** The part of a host before a host of this server; `null` for the host itself. */
export function bucketOfHost(host: string, hosts: readonly string[]): string | null {
  const name = hostName(host) ?? "";
  if (hosts.includes(name)) return null;
  const base = [...hosts, "localhost"].find((each) => name.endsWith(`.${each}`));
  return base === undefined ? null : name.slice(0, -base.length - 1);
}

/** @throws URIError */
export function parseParameters(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  if (query === "") return parameters;
  for (const [name, value] of parseQuery(query)) {
    if (!parameters.has(name)) parameters.set(name, value);
  }
  return parameters;
}

/**
 * Presigned URLs carry headers as parameters, such as `x-amz-meta-*` and `x-amz-storage-class`.
 *
 * Deviation: a checksum of no content does not count. AWS SDKs put it into the URL of each upload, because
 * they do not know the body; the deployed service refuses the upload then.
 *
 * @param name in lower case
 */
export function isHoisted(name: string, value: string): boolean {
  if (emptyChecksums.has(value) && name.startsWith(checksumPrefix)) return false;
  return /^x-amz-(?!sdk|content-sha256)/.test(name);
}

/** Of CRCs of 4 and of 8 bytes, SHA-1 and SHA-256. */
const emptyChecksums = new Set([
  "AAAAAA==",
  "AAAAAAAAAAA=",
  "2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
  "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
]);

type RoutedRequest = Pick<S3Request, "method" | "bucketName" | "key" | "parameters" | "headers">;

/** A row of the table, in the form in which requests are compared with it. */
interface Route {
  readonly selectors: readonly Selector[];
  readonly operation: Operation | RefusedOperation;
  /** What a request may have: the selectors, what the row accepts, and what every row accepts. */
  readonly known: KnownNames;
  /** What a request may have besides in a bucket with `s3_compatibility = "aws"`. */
  readonly knownForAws: KnownNames;
}

interface Selector {
  readonly name: string;
  readonly value: string | undefined;
}

interface KnownNames {
  /** The values of a name; `null` for any value. */
  readonly values: ReadonlyMap<string, ReadonlySet<string> | null>;
  readonly prefixes: readonly string[];
}

/** By `METHOD level`; the routes with the most selectors are first. */
const routes = parseTable();
const general = parseNames(wordsOf(generalNames));
/** What names an operation about an object, whatever the method. */
const objectSelectors = new Set(
  Object.keys(operations)
    .map((text) => text.split(" "))
    .filter(([, level]) => level === "object")
    .flatMap(([, , ...selectors]) => selectors),
);

function parseTable(): ReadonlyMap<string, readonly Route[]> {
  const table = new Map<string, Route[]>();
  for (const [text, operation] of Object.entries(operations)) {
    const [method, level, ...selectors] = text.split(" ");
    const place = `${method} ${level}`;
    const { accepts = "", acceptsForAws = "" } = "verb" in operation ? operation : {};
    const route = {
      selectors: selectors.map(parseName),
      operation,
      known: parseNames([...wordsOf(generalNames), ...selectors, ...wordsOf(accepts)]),
      knownForAws: parseNames(wordsOf(acceptsForAws)),
    };
    const ofPlace = [...(table.get(place) ?? []), route];
    table.set(
      place,
      ofPlace.toSorted((one, other) => other.selectors.length - one.selectors.length),
    );
  }
  return table;
}

function wordsOf(names: string): string[] {
  return names.split(" ").filter((word) => word !== "");
}

function parseName(word: string): Selector {
  const [name, value] = word.split("=") as [string, string?];
  return { name, value };
}

function parseNames(words: readonly string[]): KnownNames {
  const values = new Map<string, Set<string> | null>();
  for (const { name, value } of words.map(parseName)) {
    values.set(name, value === undefined ? null : (values.get(name) ?? new Set()).add(value));
  }
  const prefixes = words.filter((word) => word.endsWith("*")).map((word) => word.slice(0, -1));
  return { values, prefixes };
}

function isKnown({ values, prefixes }: KnownNames, name: string, value: string): boolean {
  const accepted = values.get(name);
  if (accepted === undefined) return prefixes.some((prefix) => name.startsWith(prefix));
  return accepted === null || accepted.has(value);
}

/** A header that can change what a request means, and so must be known. */
function isSignificant(headerName: string): boolean {
  return headerName.startsWith("x-amz-") || headerName.startsWith("cf-");
}

/**
 * @param isForAws whether the bucket has `s3_compatibility = "aws"`; called if that matters
 * @throws S3Error for an operation that does not exist, or for a name that its row does not have
 */
export function routeRequest(request: RoutedRequest, isForAws: () => boolean): Verb {
  const { method, bucketName, key, parameters, headers } = request;
  const level: Level = bucketName === "" ? "account" : key === "" ? "bucket" : "object";
  const route = routes.get(`${method} ${level}`)?.find(({ selectors }) =>
    selectors.every(({ name, value }) => {
      const given = isSignificant(name) ? headers.get(name) : parameters.get(name);
      return given !== undefined && (value === undefined || value === given);
    }),
  );
  if (route === undefined) throw unknownRoute(request, level);
  const { operation } = route;
  if ("refused" in operation) throw notImplemented(operation.refused);
  if (operation.isForAws === true && !isForAws()) throw notImplemented(operation.verb, awsOption);
  refuseParameters(request, route, operation);
  refuseHeaders(request, route, isForAws);
  return operation.verb;
}

function unknownRoute({ method, headers }: RoutedRequest, level: Level): S3Error {
  if (method !== "POST" || level === "account") return new S3Error("RouteNotFound");
  if (/^multipart\/form-data\b/i.test(headers.get("content-type") ?? "")) {
    return notImplemented("PostObject");
  }
  if (level === "object") return notImplemented("POST of an object without a known subresource");
  // Deviation: the deployed service answers 200 to a signed POST.
  return new S3Error(
    "PreconditionFailed",
    "Bucket POST must be of the enclosure-type multipart/form-data",
  );
}

/** @throws S3Error */
function refuseParameters(
  { method, parameters, headers }: RoutedRequest,
  { known, knownForAws }: Route,
  { verb, passesOver }: Operation,
): void {
  const partNumber = parameters.get("partNumber");
  // The routes of the deployed service accept text that looks like an integer; the verb checks it.
  if (parameters.has("uploadId") && partNumber !== undefined && !/^ *-?\d*$/.test(partNumber)) {
    throw new S3Error("RouteNotFound");
  }
  const unknown = Array.from(parameters).filter(([name, value]) => {
    const header = name.toLowerCase();
    if (isKnown(general, header, value)) return false;
    if (header.startsWith("x-amz-")) {
      // Elsewhere than in a presigned URL, the parameter would have no effect.
      const hasEffect = !isHoisted(header, value) || headers.get(header) === value;
      // The header, which the parameter has become, is refused below where the option is missing.
      const isAccepted = isKnown(known, header, value) || isKnown(knownForAws, header, value);
      return !hasEffect || !isAccepted;
    }
    return !isKnown(known, name, value) && !(passesOver && !objectSelectors.has(name));
  });
  if (unknown.length > 0) throw unknownParameters(verb, method, unknown);
  const id = parameters.get("x-id");
  // Settings have a longer name in AWS's clients.
  if (id !== undefined && id !== verb && id !== `${verb}Configuration`) {
    throw notImplemented(`Operation ${id} by a request for ${verb}`);
  }
}

/** The texts of the deployed service, which has the first three of its own. */
function unknownParameters(
  verb: Verb,
  method: string,
  unknown: readonly (readonly [name: string, value: string])[],
): S3Error {
  const [[name, value]] = unknown as [[string, string]];
  if (verb === "CreateBucket" || verb === "DeleteBucket") {
    const names = unknown.map(([each]) => each).join('", "');
    return new S3Error(
      "InvalidArgument",
      `Unsupported search param(s) "${names}" on a ${method} bucket route`,
    );
  }
  if (verb === "GetBucketLocation") {
    const text = `Search param ${name} is unsupported for bucket location`;
    return new S3Error("InvalidArgument", text);
  }
  if (verb !== "ListObjects") return notImplemented(`${verb} search parameter ${name}`);
  if (name === "list-type") return notImplemented(`ListObjectsV${value}`);
  if (name === "continuation-token") {
    return new S3Error("InvalidArgument", "continuation-token not supported in ListObjects");
  }
  return notImplemented(`ListObjectsV1 search parameter ${name}`);
}

/** @throws S3Error */
function refuseHeaders(
  { headers }: RoutedRequest,
  { known, knownForAws }: Route,
  isForAws: () => boolean,
): void {
  for (const [name, value] of headers) {
    if (!isSignificant(name) || isKnown(known, name, value)) continue;
    const isOfOption = isKnown(knownForAws, name, value);
    if (isOfOption && isForAws()) continue;
    throw notImplemented(
      `Header '${name}' with value '${value}'`,
      isOfOption ? awsOption : undefined,
    );
  }
}

/** Deviation: the deployed service has no such option, and its text ends before. */
const awsOption =
  'The deployed service refuses this. The option s3_compatibility = "aws" of the bucket accepts it';

function notImplemented(name: string, advice?: string): S3Error {
  const text = `${name} not implemented`;
  return new S3Error("NotImplemented", advice === undefined ? text : `${text}. ${advice}.`);
}
