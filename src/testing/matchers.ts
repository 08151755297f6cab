/**
 * Matchers for the calls of buckets and other bindings, and for the log of DNS queries:
 * `expect(calls).toHavePut("a.png")`, `expect(await dns.queries()).toHaveQueried("www.example.org")`.
 *
 * A matcher refuses what could never match: with `.not`, a misspelt name would pass for ever.
 */
import { matchesPattern, toPlainPattern, type TextPattern } from "../base/fault-schedule.ts";
import { unknownWord } from "../base/nearest.ts";
import type { CallMethod } from "../store/core/errors.ts";
import { describePlannedCall } from "./binding-call.ts";
import {
  checkCallDetails,
  type AnyCall,
  type CallDetails,
  type KnownNames,
} from "./call-details.ts";

/** A query that a server of the zones has received. */
export interface DnsQuery {
  /** In lower case, without the final dot */
  readonly name: string;
  /** The name in the case of the query */
  readonly askedName: string;
  readonly type: string;
  /** `"notify"`: a NOTIFY message that a fault has lost */
  readonly transport: "udp" | "tcp" | "tls" | "https" | "notify";
  /** The address that was asked; `null` over HTTPS */
  readonly server: string | null;
  /** `"127.0.0.1:53124"`; `null` over HTTPS */
  readonly clientAddress: string | null;
  /** Of the query: `"rd"`, `"ad"`, `"cd"`, `"do"` */
  readonly flags: readonly string[];
  /** The largest UDP answer that the client accepts; `null` without EDNS */
  readonly ednsSize: number | null;
  /** The client subnet (RFC 7871), such as `"192.0.2.0/24"` */
  readonly clientSubnet: string | null;
  /** `"NOERROR"`, `"NXDOMAIN"`, …; `null` without an answer */
  readonly rcode: string | null;
  readonly truncated: boolean;
  /** The kind of the fault that hit the query */
  readonly fault: string | null;
  /** The octets of the query; `null` for a NOTIFY message */
  readonly queryBytes: number | null;
  /** The octets of the answer; `null` without an answer */
  readonly answerBytes: number | null;
  /** When the answer was ready, as ISO 8601 */
  readonly time: string;
  readonly durationMilliseconds: number;
}

const queryDetailFields = [
  "askedName",
  "type",
  "transport",
  "server",
  "ednsSize",
  "clientSubnet",
  "rcode",
  "truncated",
  "fault",
] as const satisfies (keyof DnsQuery)[];

/** What a query must have, besides its name. */
export interface QueryDetails extends Partial<Pick<DnsQuery, (typeof queryDetailFields)[number]>> {
  /** The exact number of matching queries; without it, one or more */
  times?: number;
}

/**
 * Matchers of `calls`. A key is text in which `*` stands for any characters, or a regular expression;
 * without a key, every call of the method matches.
 */
export interface CallMatchers {
  /** `put` was called: of a bucket, KV, R2 or a cache (the key is the URL). */
  toHavePut(key?: TextPattern, details?: CallDetails): void;
  /** `get` was called: of a bucket, KV or R2. */
  toHaveGot(key?: TextPattern, details?: CallDetails): void;
  /** `head` was called: of a bucket or R2. */
  toHaveHeaded(key?: TextPattern, details?: CallDetails): void;
  /** `delete` was called: of a bucket, KV, R2 or a cache. One of its keys matches. */
  toHaveDeleted(key?: TextPattern, details?: CallDetails): void;
  /** `list` was called: of a bucket, KV or R2. The key is the prefix. */
  toHaveListed(prefix?: TextPattern, details?: CallDetails): void;
  /** A multipart upload was completed. `toHaveCalled()` matches the other calls of an upload. */
  toHaveUploaded(key?: TextPattern, details?: CallDetails): void;
  /**
   * The method was called: of a bucket, of another binding, or of a Durable Object.
   *
   * @example
   * expect(calls).toHaveCalled("increment", "a", { binding: "COUNTER", times: 1 });
   */
  toHaveCalled(method: AnyMethod, key?: TextPattern, details?: CallDetails): void;
  /** D1 was called with a statement that matches. */
  toHaveRunSql(sql?: TextPattern, details?: CallDetails): void;
  /**
   * A URL was fetched: by the global `fetch()`, or by `fetch()` of a service.
   *
   * @example
   * expect(calls).toHaveFetched("https://api.example.org/*", { status: 200, times: 1 });
   */
  toHaveFetched(url?: TextPattern, details?: CallDetails): void;
}

/** Matchers of `await dns.queries()`. */
export interface QueryMatchers {
  /** A query for a name: text in which `*` is any characters, or a regular expression. */
  toHaveQueried(name?: TextPattern, details?: QueryDetails): void;
}

/** With the names of the methods of buckets, for editors. */
type AnyMethod = CallMethod | (string & {});

type CallConditions = [key?: TextPattern, details?: CallDetails];

/** @param names without them (in Node), every name may match */
export function makeCallMatchers(names?: KnownNames) {
  const method = (name: keyof CallMatchers, ...methods: AnyMethod[]) =>
    makeMatcher<AnyCall, CallDetails>({
      ...callList(name, methods.join(" or ")),
      textsOf: (call) => (methods.includes(call.method) ? call.keys : null),
      checkDetails: (details) => checkCallDetails(details, { methods }, names),
    });
  return {
    toHavePut: method("toHavePut", "put"),
    toHaveGot: method("toHaveGot", "get"),
    toHaveHeaded: method("toHaveHeaded", "head"),
    toHaveDeleted: method("toHaveDeleted", "delete"),
    toHaveListed: method("toHaveListed", "list"),
    // R2 has another name for the method of a bucket.
    toHaveUploaded: method("toHaveUploaded", "completeMultipartUpload", "complete"),
    toHaveCalled: (calls: Iterable<AnyCall>, called: AnyMethod, ...conditions: CallConditions) =>
      method("toHaveCalled", called)(calls, ...conditions),
    toHaveRunSql: makeMatcher<AnyCall, CallDetails>({
      ...callList("toHaveRunSql", "SQL"),
      textsOf: (call) => call.statements ?? null,
      checkDetails: (details) =>
        checkCallDetails(details, { kinds: ["d1"], what: "D1 database" }, names),
    }),
    toHaveFetched: makeMatcher<AnyCall, CallDetails>({
      ...callList("toHaveFetched", "fetch"),
      textsOf: (call) =>
        call.kind === "fetch" || (call.kind === "service" && call.method === "fetch")
          ? call.keys
          : null,
      checkDetails: (details) =>
        checkCallDetails(details, { kinds: ["fetch", "service"], what: "service" }, names),
    }),
  };
}

export const callMatchers = makeCallMatchers();

export const queryMatchers = {
  toHaveQueried: makeMatcher<DnsQuery, QueryDetails>({
    name: "toHaveQueried",
    list: "queries",
    source: "await dns.queries()",
    what: "query",
    before: "for",
    isEntry: (entry) => hasTexts(entry, "name", "type", "transport"),
    detailFields: queryDetailFields,
    checkDetails: (details) => details,
    textsOf: (query) => [query.name],
    // The names of the log are in lower case.
    patternOf: (name) =>
      toPlainPattern(typeof name === "string" ? name.toLowerCase().replace(/(?<=.)\.$/, "") : name),
    show: ({ name, type, transport, rcode, fault }) =>
      `${name} ${type} over ${transport}: ${rcode ?? "no answer"}` +
      (fault === null ? "" : ` (fault: ${fault})`),
  }),
};

function callList(name: keyof CallMatchers, what: string) {
  return {
    name,
    list: "calls",
    source: "calls",
    what,
    before: "of",
    isEntry: (entry: object) =>
      "keys" in entry && hasTexts(entry, "method", "bucket" in entry ? "bucket" : "binding"),
    detailFields: ["bucket", "binding", "bytes", "outcome", "code", "status"],
    patternOf: toPlainPattern,
    show: showCall,
  } as const;
}

function hasTexts(entry: object, ...fields: string[]): boolean {
  return fields.every((field) => typeof entry[field as keyof object] === "string");
}

/** `put a.png in photos: ok, 5 bytes` */
function showCall(call: AnyCall): string {
  if (call.bucket !== undefined) {
    const { bucket, method, keys, bytes, outcome, code } = call;
    const result = outcome === "error" ? `error ${code}` : outcome;
    return `${method} ${keys.join(", ")} in ${bucket}: ${result}, ${bytes} bytes`;
  }
  const { outcome, error, status, milliseconds } = call;
  const result = outcome === "error" ? error : (status ?? outcome);
  return `${describePlannedCall(call)}: ${result}, ${Math.round(milliseconds)} ms`;
}

interface MatcherOptions<Entry, Details> {
  readonly name: string;
  readonly list: "calls" | "queries";
  /** The expression whose value the matcher takes */
  readonly source: string;
  /** The entry that is expected, for the message. */
  readonly what: string;
  readonly before: "of" | "for";
  readonly isEntry: (value: object) => boolean;
  /** The fields of the details, without `times` */
  readonly detailFields: readonly (keyof Entry & string)[];
  /** @throws TypeError if no entry can have these details */
  readonly checkDetails: (details: Details) => Details;
  /** What the pattern is compared with; `null` if the entry does not match */
  readonly textsOf: (entry: Entry) => readonly string[] | null;
  readonly patternOf: typeof toPlainPattern;
  readonly show: (entry: Entry) => string;
}

function makeMatcher<Entry extends object, Details extends { times?: number }>(
  options: MatcherOptions<Entry, Details>,
) {
  const { name, list, what, before, textsOf, patternOf, show } = options;
  return (entries: Iterable<Entry>, wanted?: TextPattern, details?: Details) => {
    const { times, ...fields } = check(options, entries, wanted, details);
    const all = [...entries];
    const pattern = wanted === undefined ? null : patternOf(wanted);
    const found = all.filter((entry) => {
      const texts = textsOf(entry);
      return (
        texts !== null &&
        (pattern === null || texts.some((each) => matchesPattern(pattern, each))) &&
        Object.entries(fields).every(
          ([field, value]) => value === undefined || entry[field as keyof Entry] === value,
        )
      );
    });
    const pass = times === undefined ? found.length > 0 : found.length === times;
    const expected = [
      what,
      ...(wanted === undefined ? [] : [`${before} ${String(wanted)}`]),
      ...(Object.keys(fields).length === 0 ? [] : [`with ${JSON.stringify(fields)}`]),
      ...(times === undefined ? [] : [`${times} times`]),
    ].join(" ");
    const article = pass ? "no " : list === "queries" ? "a " : "";
    const title = list === "queries" ? "Queries" : "Calls";
    const lines = all.length === 0 ? ["none"] : all.map(show);
    return {
      pass,
      message: () =>
        `expect(${list}).${pass ? "not." : ""}${name}(): expected ${article}${expected}, ` +
        `found ${found.length}. ${title}:\n${lines.map((line) => `  ${line}`).join("\n")}`,
    };
  };
}

/** @throws TypeError that says what is wrong with the value of `expect()` or with the arguments */
function check<Entry extends object, Details extends { times?: number }>(
  { name, source, isEntry, detailFields, checkDetails }: MatcherOptions<Entry, Details>,
  entries: unknown,
  wanted: unknown,
  details: unknown = {},
): Details {
  const refuse = (problem: string): never => {
    throw new TypeError(`${name}(): ${problem}`);
  };
  const isList =
    typeof entries === "object" &&
    entries !== null &&
    Symbol.iterator in entries &&
    [...(entries as Iterable<unknown>)].every(
      (entry) => typeof entry === "object" && entry !== null && isEntry(entry),
    );
  if (!isList) {
    refuse(
      `the value of expect() is ${describeValue(entries)}. Write expect(${source}).${name}().`,
    );
  }
  if (wanted !== undefined && typeof wanted !== "string" && !(wanted instanceof RegExp)) {
    refuse(
      `the pattern is ${describeValue(wanted)}: give text, in which * stands for any characters, ` +
        "or a regular expression, or undefined for all.",
    );
  }
  if (typeof details !== "object" || details === null) {
    refuse(`the details are ${describeValue(details)}: give an object.`);
  }
  const known = [...detailFields, "times"];
  const unknown = Object.keys(details as object).find((field) => !known.includes(field));
  if (unknown !== undefined) refuse(unknownWord("detail", unknown, known));
  const { times } = details as Details;
  if (times !== undefined && !(Number.isInteger(times) && times >= 0)) {
    refuse(`"times" is ${String(times)}: give a whole number.`);
  }
  try {
    return checkDetails(details as Details);
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function describeValue(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value !== "object") return `a ${typeof value}: ${JSON.stringify(value)}`;
  if (typeof (value as { then?: unknown }).then === "function") return "a promise without await";
  if (Array.isArray(value)) return "an array of other values";
  const { name } = value.constructor ?? {};
  return name === "Object" || !name ? "an object" : `an object of the class ${name}`;
}
