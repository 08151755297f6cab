/**
 * The CORS rules of a bucket: which pages may send which requests, and what they may read of the
 * responses. The first rule that matches the origin and the method counts.
 *
 * A request is not refused because of its origin: its signature authorises it. The rules decide what
 * a browser shows to the page, and the browser asks before it sends (preflight).
 */
import { S3Error, parseRequestDocument } from "./s3-error.ts";
import type { S3Headers, S3Response } from "./s3-request.ts";
import { childrenOf, childText, type XmlElement, writeXml } from "../http/xml.ts";

export interface CorsRule {
  readonly id?: string;
  /** With at most one `*` each. */
  readonly allowedOrigins: readonly string[];
  readonly allowedMethods: readonly string[];
  /** With at most one `*` each, in any case. */
  readonly allowedHeaders?: readonly string[];
  readonly exposeHeaders?: readonly string[];
  readonly maxAgeSeconds?: number;
}

/** AWS's limit. */
const rulesMax = 100;
const methods = new Set(["GET", "PUT", "POST", "DELETE", "HEAD"]);

/** @throws S3Error MalformedXML, and InvalidRequest for a method that no rule can have */
export function parseCorsDocument(document: string): CorsRule[] {
  const root = parseRequestDocument(document, "CORSConfiguration");
  const rules = childrenOf(root, "CORSRule").map(parseRule);
  const isValid = rules.length > 0 && rules.length <= rulesMax;
  if (!isValid) throw new S3Error("MalformedXML");
  return rules;
}

function parseRule(element: XmlElement): CorsRule {
  const texts = (name: string): string[] =>
    childrenOf(element, name).map(({ text }) => text.trim());
  const id = childText(element, "ID");
  const age = childText(element, "MaxAgeSeconds")?.trim();
  const rule = {
    allowedOrigins: texts("AllowedOrigin"),
    allowedMethods: texts("AllowedMethod"),
    allowedHeaders: texts("AllowedHeader"),
    exposeHeaders: texts("ExposeHeader"),
    ...(id !== null && { id }),
    ...(age !== undefined && { maxAgeSeconds: Number(age) }),
  };
  if (rule.allowedOrigins.length === 0 || rule.allowedMethods.length === 0) {
    throw new S3Error("MalformedXML");
  }
  if (age !== undefined && !/^\d{1,9}$/.test(age)) throw new S3Error("MalformedXML");
  const method = rule.allowedMethods.find((each) => !methods.has(each));
  if (method !== undefined) {
    throw new S3Error(
      "InvalidRequest",
      `Found unsupported HTTP method in CORS config. Unsupported method is ${method}`,
    );
  }
  const wild = [...rule.allowedOrigins, ...rule.allowedHeaders].find(
    (each) => each.split("*").length > 2,
  );
  if (wild !== undefined) {
    throw new S3Error(
      "InvalidRequest",
      `AllowedOrigin and AllowedHeader can not have more than one wildcard: "${wild}"`,
    );
  }
  return rule;
}

export function writeCorsDocument(rules: readonly CorsRule[]): string {
  return writeXml("CORSConfiguration", {
    CORSRule: rules.map((rule) => ({
      ID: rule.id ?? null,
      AllowedMethod: rule.allowedMethods,
      AllowedOrigin: rule.allowedOrigins,
      AllowedHeader: rule.allowedHeaders ?? [],
      ExposeHeader: rule.exposeHeaders ?? [],
      MaxAgeSeconds: rule.maxAgeSeconds ?? null,
    })),
  });
}

/** The headers of a response to a page; none when no rule allows the request. */
export function corsResponseHeaders(
  rules: readonly CorsRule[],
  { origin, method }: { readonly origin: string; readonly method: string },
): Record<string, string> {
  const rule = rules.find((each) => isAllowed(each, origin, method));
  return rule === undefined ? {} : grantedHeaders(rule, origin);
}

/** @throws S3Error AccessForbidden when no rule allows the request that the browser asks about */
export function preflightResponse(rules: readonly CorsRule[], headers: S3Headers): S3Response {
  const origin = headers.get("origin");
  const method = headers.get("access-control-request-method");
  if (origin === null || method === null) {
    throw new S3Error("InvalidRequest", "Insufficient information. Origin request header needed.");
  }
  const requested = (headers.get("access-control-request-headers") ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
  const rule = rules.find(
    (each) =>
      isAllowed(each, origin, method) && requested.every((name) => allowsHeader(each, name)),
  );
  if (rule === undefined) {
    throw new S3Error(
      "AccessForbidden",
      rules.length === 0
        ? "CORSResponse: CORS is not enabled for this bucket."
        : "CORSResponse: This CORS request is not allowed. This is usually because the evalution of " +
            "Origin, request method / Access-Control-Request-Method or " +
            "Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.",
    );
  }
  return {
    status: 200,
    headers: {
      ...grantedHeaders(rule, origin),
      ...(requested.length > 0 && { "access-control-allow-headers": requested.join(", ") }),
      ...(rule.maxAgeSeconds !== undefined && {
        "access-control-max-age": String(rule.maxAgeSeconds),
      }),
    },
  };
}

function grantedHeaders(rule: CorsRule, origin: string): Record<string, string> {
  const isAny = rule.allowedOrigins.includes("*");
  const exposed = rule.exposeHeaders ?? [];
  return {
    "access-control-allow-origin": isAny ? "*" : origin,
    "access-control-allow-methods": rule.allowedMethods.join(", "),
    ...(exposed.length > 0 && { "access-control-expose-headers": exposed.join(", ") }),
    vary: "Origin, Access-Control-Request-Headers, Access-Control-Request-Method",
  };
}

function isAllowed(rule: CorsRule, origin: string, method: string): boolean {
  return (
    rule.allowedMethods.includes(method) &&
    rule.allowedOrigins.some((pattern) => matches(pattern, origin))
  );
}

function allowsHeader(rule: CorsRule, name: string): boolean {
  return (rule.allowedHeaders ?? []).some((pattern) => matches(pattern.toLowerCase(), name));
}

/** `*` stands for any text. */
function matches(pattern: string, text: string): boolean {
  const [start, end] = pattern.split("*", 2) as [string, string?];
  if (end === undefined) return pattern === text;
  return text.length >= start.length + end.length && text.startsWith(start) && text.endsWith(end);
}
