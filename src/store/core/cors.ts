/**
 * CORS rules of a bucket: which pages may send which requests, and what they may read of the responses. The
 * first rule that matches the origin and the method counts. The rules decide what a browser shows to the
 * page, and the browser asks before it sends (preflight).
 */
import type { StoredSettings } from "./operations.ts";

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

/** The rules that a request has put, or else those of the configuration. */
export function corsRules(
  { cors }: Pick<StoredSettings, "cors">,
  configured: readonly CorsRule[] = [],
): readonly CorsRule[] {
  return cors === undefined ? configured : (JSON.parse(cors) as CorsRule[]);
}

/** Headers of a response; those that are `undefined` are not sent. */
type CorsHeaders = Readonly<Record<string, string | undefined>>;

/** None when no rule allows the request. */
export function grantedHeaders(
  rules: readonly CorsRule[],
  { origin, method }: { readonly origin: string; readonly method: string },
): CorsHeaders | undefined {
  const rule = rules.find((each) => isAllowed(each, origin, method));
  return rule && ruleHeaders(rule, origin);
}

/** The request that a browser asks about. */
export interface Preflight {
  readonly origin: string;
  readonly method: string;
  /** In lower case. */
  readonly headerNames: readonly string[];
}

/** `null` for a request that does not ask. */
export function preflightOf(headers: {
  get(name: string): string | null | undefined;
}): Preflight | null {
  const origin = headers.get("origin");
  const method = headers.get("access-control-request-method");
  if (origin == null || method == null) return null;
  const headerNames = (headers.get("access-control-request-headers") ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
  return { origin, method, headerNames };
}

/** `null` when no rule allows the request that the browser asks about. */
export function preflightHeaders(
  rules: readonly CorsRule[],
  { origin, method, headerNames }: Preflight,
): CorsHeaders | null {
  const rule = rules.find(
    (each) =>
      isAllowed(each, origin, method) && headerNames.every((name) => allowsHeader(each, name)),
  );
  if (rule === undefined) return null;
  return {
    ...ruleHeaders(rule, origin),
    "access-control-allow-headers": headerNames.join(", ") || undefined,
    "access-control-max-age": rule.maxAgeSeconds?.toString(),
  };
}

function ruleHeaders(rule: CorsRule, origin: string): CorsHeaders {
  const isAny = rule.allowedOrigins.includes("*");
  return {
    "access-control-allow-origin": isAny ? "*" : origin,
    "access-control-allow-methods": rule.allowedMethods.join(", "),
    "access-control-expose-headers": rule.exposeHeaders?.join(", ") || undefined,
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
