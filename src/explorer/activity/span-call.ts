/**
 * A call of the script, from a span of its trace. The names of spans and attributes are workerd's; the
 * spans of buckets are `store/client/traced-calls.ts`.
 */
import { bindingKinds, type CallEntry } from "../api/activity.ts";
import { typeName } from "../../dns/record/presentation.ts";
import { decodeBase64, WireError } from "../../dns/wire/bytes.ts";
import { decodeMessage } from "../../dns/wire/message.ts";

export interface Span {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, unknown>;
  /** What workerd says at the end of the span; `null` for a span without an end. */
  readonly outcome: string | null;
}

type SpanCall = Omit<CallEntry, "id" | "at" | "milliseconds" | "source">;

/** Whether the spans below this span are parts of the same call: the script opens spans itself, too. */
export function isPlatformSpan({ name }: Span): boolean {
  return name.startsWith("store_") || kindOf(name) !== "other";
}

/** `kv` of `kv_get`, and `workflow` of `workflows_create`. */
function kindOf(name: string): CallEntry["kind"] {
  const isOf = (kind: string): boolean =>
    name.startsWith(`${kind}_`) || name.startsWith(`${kind}s_`);
  return bindingKinds.find((kind) => name === kind || isOf(kind)) ?? "other";
}

/** Miniflare keeps the names of Durable Objects in a table of their databases. */
export function isPlumbing({ attributes }: Span): boolean {
  return text(attributes, "db.query.text").includes("__miniflare_do_name");
}

export function spanCall(span: Span): SpanCall {
  if (span.name.startsWith("store_")) return storeCall(span);
  return span.name === "fetch" ? fetchCall(span) : otherCall(span);
}

function storeCall({ name, attributes }: Span): SpanCall {
  const outcome = attributes.get("outcome");
  const keys = number(attributes, "keys");
  const more = keys === null ? null : `and ${keys - 1} more`;
  return {
    kind: "bucket",
    method: name.slice("store_".length),
    place: text(attributes, "bucket"),
    subject: text(attributes, "key"),
    bytes: number(attributes, "bytes"),
    outcome: outcome === "none" || outcome === "error" ? outcome : "ok",
    note: outcome === undefined ? unfinished : (textOrNull(attributes, "error") ?? more),
  };
}

const unfinished = "The call has not ended.";
/** HTTP: the lowest status of an error. */
const errorStatus = 400;

function fetchCall({ attributes, outcome }: Span): SpanCall {
  const url = URL.parse(text(attributes, "url.full"));
  const status = number(attributes, "http.response.status_code");
  const hasFailed = status === null ? outcome !== null : status >= errorStatus;
  const question = url?.pathname === "/dns-query" ? questionOf(url.searchParams) : null;
  const isApi = url?.pathname.startsWith("/client/v4/") === true;
  return {
    kind: url?.pathname === "/dns-query" ? "query" : isApi ? "api" : "fetch",
    method: question?.type ?? text(attributes, "http.request.method"),
    place: url?.host ?? "",
    subject: question?.name ?? (url === null ? "" : url.pathname + url.search),
    bytes: number(attributes, "http.response.body.size"),
    outcome: hasFailed ? "error" : "ok",
    note: hasFailed
      ? status === null
        ? "No response."
        : `Status ${status}`
      : outcome === null && status === null
        ? unfinished
        : null,
  };
}

/** KV: only a value that exists has a size. */
const kvSize = "cloudflare.kv.response.size";
/** R2: the object does not exist. */
const absentCode = 10007;

function otherCall({ name, attributes, outcome }: Span): SpanCall {
  const error = textOrNull(attributes, "error.type");
  const isAbsent =
    number(attributes, "cloudflare.r2.error.code") === absentCode ||
    (name === "kv_get" && outcome !== null && !attributes.has(kvSize));
  const hasFailed = error !== null || (outcome !== null && outcome !== "ok");
  const kind = kindOf(name);
  return {
    kind,
    method: kind === "other" ? name : name.replace(new RegExp(`^${kind}s?_`), ""),
    place: text(attributes, "cloudflare.binding.name"),
    subject: text(attributes, firstOf(attributes, subjectNames)),
    bytes: number(attributes, firstOf(attributes, sizeNames)),
    outcome: isAbsent ? "none" : hasFailed ? "error" : "ok",
    note: isAbsent ? null : (error ?? (outcome === null ? unfinished : null)),
  };
}

const subjectNames = [
  "cloudflare.kv.query.keys",
  "cloudflare.r2.request.key",
  "db.query.text",
  "url.full",
  "objectId",
];

const sizeNames = ["cloudflare.kv.query.payload.size", kvSize, "cloudflare.r2.response.size"];

type Attributes = Span["attributes"];

function text(attributes: Attributes, name: string): string {
  return textOrNull(attributes, name) ?? "";
}

function textOrNull(attributes: Attributes, name: string): string | null {
  const value = attributes.get(name);
  return typeof value === "string" ? value : null;
}

function number(attributes: Attributes, name: string): number | null {
  const value = attributes.get(name);
  return typeof value === "number" ? value : null;
}

function firstOf(attributes: Attributes, names: readonly string[]): string {
  return names.find((name) => attributes.has(name)) ?? "";
}

type DohQuestion = Readonly<Record<"name" | "type", string>>;

/**
 * The question in the address of a query of DNS over HTTPS (RFC 8484), or of its JSON form. `null` when the
 * address has no question: a POST has its message in the body.
 */
export function questionOf(parameters: URLSearchParams): DohQuestion | null {
  const message = parameters.get("dns");
  if (message !== null) return questionIn(message);
  const name = parameters.get("name");
  if (name === null) return null;
  const type = (parameters.get("type") ?? "A").toUpperCase();
  return { name, type: /^\d+$/.test(type) ? typeName(Number(type)) : type };
}

function questionIn(message: string): DohQuestion | null {
  const digits = message.replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/");
  const bytes = decodeBase64(digits.padEnd(Math.ceil(digits.length / 4) * 4, "="));
  if (bytes === null) return null;
  try {
    const [question] = decodeMessage(bytes).questions;
    return question === undefined ? null : { name: question.name, type: typeName(question.type) };
  } catch (error) {
    if (error instanceof WireError) return null;
    throw error;
  }
}
