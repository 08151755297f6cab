/**
 * Matchers for the calls of buckets and other bindings, and for the log of DNS queries:
 * `expect(calls).toHavePut("a.png")`, `expect(await dns.queries()).toHaveQueried("www.example.org")`.
 */
import { matchesPattern, toPlainPattern, type TextPattern } from "../base/fault-schedule.ts";
import type { Call } from "../store/core/fault.ts";
import type { CallMethod } from "../store/core/errors.ts";
import { describePlannedCall, type BindingCall } from "./binding-call.ts";

/** Without these, no field of one kind of call could be read before its kind is known. */
type Absent<Other, Own> = { readonly [Field in Exclude<keyof Other, keyof Own>]?: never };

/** A call of a bucket or of another binding, as `calls` of `ledge/test` has them. */
export type AnyCall =
  | (Call & Absent<BindingCall, Call>)
  | (BindingCall & Absent<Call, BindingCall>);

export interface CallDetails {
  bucket?: string;
  /** The name in `env` of another binding */
  binding?: string;
  bytes?: number;
  outcome?: AnyCall["outcome"];
  code?: number;
  /** The exact number of matching calls; without it, one or more */
  times?: number;
}

/** A query that a server of the zones has received. */
export interface DnsQuery {
  /** In lower case, without the final dot */
  readonly name: string;
  readonly type: string;
  /** `"notify"`: a NOTIFY message that a fault has lost */
  readonly transport: "udp" | "tcp" | "https" | "notify";
  /** The address that was asked; `null` over HTTPS */
  readonly server: string | null;
  /** `"NOERROR"`, `"NXDOMAIN"`, …; `null` without an answer */
  readonly rcode: string | null;
  readonly truncated: boolean;
  /** The kind of the fault that hit the query */
  readonly fault: string | null;
  /** When the answer was ready, as ISO 8601 */
  readonly time: string;
}

export interface QueryDetails extends Partial<Omit<DnsQuery, "name" | "time">> {
  /** The exact number of matching queries; without it, one or more */
  times?: number;
}

export interface CallMatchers {
  toHavePut(key?: TextPattern, details?: CallDetails): void;
  toHaveGot(key?: TextPattern, details?: CallDetails): void;
  toHaveHeaded(key?: TextPattern, details?: CallDetails): void;
  toHaveDeleted(key?: TextPattern, details?: CallDetails): void;
  /** The key is the prefix. */
  toHaveListed(prefix?: TextPattern, details?: CallDetails): void;
  /** Completed a multipart upload. `toHaveCalled()` matches the other calls of an upload. */
  toHaveUploaded(key?: TextPattern, details?: CallDetails): void;
  /** Called the given method: of a bucket, of another binding, or of a Durable Object. */
  toHaveCalled(method: AnyMethod, key?: TextPattern, details?: CallDetails): void;
  /** Called D1 with a statement that matches. */
  toHaveRunSql(sql?: TextPattern, details?: CallDetails): void;
}

export interface QueryMatchers {
  /** A query for a name: text in which `*` is any characters, or a regular expression. */
  toHaveQueried(name?: TextPattern, details?: QueryDetails): void;
}

/** With the names of the methods of buckets, for editors. */
type AnyMethod = CallMethod | (string & {});

type CallConditions = [key?: TextPattern, details?: CallDetails];

export const callMatchers = {
  toHavePut: methodMatcher("toHavePut", "put"),
  toHaveGot: methodMatcher("toHaveGot", "get"),
  toHaveHeaded: methodMatcher("toHaveHeaded", "head"),
  toHaveDeleted: methodMatcher("toHaveDeleted", "delete"),
  toHaveListed: methodMatcher("toHaveListed", "list"),
  toHaveUploaded: methodMatcher("toHaveUploaded", "completeMultipartUpload"),
  toHaveCalled: (calls: Iterable<AnyCall>, method: AnyMethod, ...conditions: CallConditions) =>
    methodMatcher("toHaveCalled", method)(calls, ...conditions),
  toHaveRunSql: callMatcher("toHaveRunSql", "SQL", (call) => call.statements ?? null),
};

export const queryMatchers = {
  toHaveQueried: makeMatcher<DnsQuery, QueryDetails>({
    name: "toHaveQueried",
    list: "queries",
    what: "query",
    before: "for",
    textsOf: (query) => [query.name],
    // The names of the log are in lower case.
    patternOf: (name) =>
      toPlainPattern(typeof name === "string" ? name.toLowerCase().replace(/(?<=.)\.$/, "") : name),
    show: ({ name, type, transport, rcode, fault }) =>
      `${name} ${type} over ${transport}: ${rcode ?? "no answer"}` +
      (fault === null ? "" : ` (fault: ${fault})`),
  }),
};

function methodMatcher(name: keyof CallMatchers, method: AnyMethod) {
  return callMatcher(name, method, (call) => (call.method === method ? call.keys : null));
}

function callMatcher(
  name: keyof CallMatchers,
  what: string,
  textsOf: (call: AnyCall) => readonly string[] | null,
) {
  return makeMatcher<AnyCall, CallDetails>({
    name,
    list: "calls",
    what,
    before: "of",
    textsOf,
    patternOf: toPlainPattern,
    show: showCall,
  });
}

/** `put a.png in photos: ok, 5 bytes` */
function showCall(call: AnyCall): string {
  if (call.bucket !== undefined) {
    const { bucket, method, keys, bytes, outcome, code } = call;
    const result = outcome === "error" ? `error ${code}` : outcome;
    return `${method} ${keys.join(", ")} in ${bucket}: ${result}, ${bytes} bytes`;
  }
  const { outcome, error, milliseconds } = call;
  const result = outcome === "error" ? error : outcome;
  return `${describePlannedCall(call)}: ${result}, ${Math.round(milliseconds)} ms`;
}

interface MatcherOptions<Entry> {
  readonly name: string;
  readonly list: "calls" | "queries";
  /** The entry that is expected, for the message. */
  readonly what: string;
  readonly before: "of" | "for";
  /** What the pattern is compared with; `null` if the entry does not match */
  readonly textsOf: (entry: Entry) => readonly string[] | null;
  readonly patternOf: typeof toPlainPattern;
  readonly show: (entry: Entry) => string;
}

function makeMatcher<Entry extends object, Details extends { times?: number }>(
  options: MatcherOptions<Entry>,
) {
  const { name, list, what, before, textsOf, patternOf, show } = options;
  return (entries: Iterable<Entry>, wanted?: TextPattern, details?: Details) => {
    const { times, ...fields } = details ?? ({} as Details);
    const all = [...entries];
    const pattern = wanted === undefined ? null : patternOf(wanted);
    const found = all.filter((entry) => {
      const texts = textsOf(entry);
      return (
        texts !== null &&
        (pattern === null || texts.some((each) => matchesPattern(pattern, each))) &&
        Object.entries(fields).every(([field, value]) => entry[field as keyof Entry] === value)
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
