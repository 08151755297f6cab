/**
 * Which bucket and which object a request is about.
 *
 *     path style           http://localhost:8789/photos/a.jpg     bucket photos, key a.jpg
 *     virtual-host style   http://photos.localhost:8789/a.jpg     the same
 *
 * The text of a request is taken as it is. A URL would collapse `.` and `..`, which belong to keys.
 */
import { hostName } from "../base/host-rule.ts";
import { S3Error } from "./s3-error.ts";
import type { S3Parameters } from "./s3-request.ts";
import { parseQuery } from "../http/uri.ts";

export interface RequestTarget {
  readonly bucketName: string | null;
  readonly key: string | null;
  /** As the client has sent it. */
  readonly path: string;
  /** Without the question mark, as the client has sent it. */
  readonly query: string;
  readonly bucketUrl: string;
}

/**
 * @param target the request target of HTTP: a path with a query, or a whole URL
 * @param hosts the configured hosts. The name before such a host, or before `localhost`, is a bucket
 * @throws S3Error InvalidURI
 */
export function parseTarget(target: string, host: string, hosts: readonly string[]): RequestTarget {
  // A client that takes the server for a proxy sends the whole URL.
  const local = encodeOctets(target).replace(/^http:\/\/[^/?]*/i, "");
  const end = local.indexOf("?");
  const path = end === -1 ? local : local.slice(0, end);
  const query = end === -1 ? "" : local.slice(end + 1);
  const virtualBucket = bucketOfHost(host, hosts);
  const rest = path.replace(/^\//, "");
  if (virtualBucket !== null) {
    const bucketUrl = `http://${host}`;
    return { bucketName: virtualBucket, key: keyOf(rest), path, query, bucketUrl };
  }
  const separator = rest.indexOf("/");
  const bucketText = separator === -1 ? rest : rest.slice(0, separator);
  return {
    bucketName: bucketText === "" ? null : decodeURIComponent(bucketText),
    key: separator === -1 ? null : keyOf(rest.slice(separator + 1)),
    path,
    query,
    bucketUrl: `http://${host}/${bucketText}`,
  };
}

/**
 * The part of a host before a host of this server.
 *
 * @returns `null` for the host itself
 */
export function bucketOfHost(host: string, hosts: readonly string[]): string | null {
  const name = hostName(host) ?? "";
  if (hosts.includes(name)) return null;
  const base = [...hosts, "localhost"].find((each) => name.endsWith(`.${each}`));
  return base === undefined ? null : name.slice(0, -base.length - 1);
}

/** Octets beyond ASCII, which Node passes on as characters, in percent-encoding. */
function encodeOctets(target: string): string {
  return target.replace(
    // oxlint-disable-next-line no-control-regex -- control characters are intended
    /[^\u0000-\u007f]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function keyOf(text: string): string | null {
  return text === "" ? null : decodeURIComponent(text);
}

export function parseParameters(query: string): S3Parameters {
  const all = new Map<string, string>();
  for (const [name, value] of parseQuery(query)) if (!all.has(name)) all.set(name, value);
  return {
    get: (name) => all.get(name) ?? null,
    has: (name) => all.has(name),
    names: [...all.keys()],
  };
}

/** @throws S3Error InvalidArgument */
export function wholeParameter(
  parameters: S3Parameters,
  name: string,
  { max, fallback }: { readonly max: number; readonly fallback: number },
): number {
  const text = parameters.get(name);
  if (text === null || text === "") return fallback;
  if (!/^\d{1,10}$/.test(text)) {
    throw new S3Error(
      "InvalidArgument",
      `Argument ${name} must be an integer between 0 and ${max}`,
    );
  }
  return Math.min(Number(text), max);
}
