/** Matchers for the calls of buckets and other bindings: `expect(calls).toHavePut("a.png")`. */
import type { CallMethod } from "../store/core/fault.ts";
import { showCall, type AnyCall } from "./any-call.ts";
import { matchesPattern, toPlainPattern, type TextPattern } from "../base/text-pattern.ts";

/** Further conditions on a call. */
export interface CallDetails {
  /** The name of a bucket */
  bucket?: string;
  /** The name in `env` of another binding */
  binding?: string;
  bytes?: number;
  outcome?: AnyCall["outcome"];
  code?: number;
  /** The exact number of matching calls; without it, one or more */
  times?: number;
}

type Conditions = [key?: TextPattern, details?: CallDetails];

interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

type Matcher = (calls: Iterable<AnyCall>, ...conditions: Conditions) => MatcherResult;

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

/** With the names of the methods of buckets, for editors. */
type AnyMethod = CallMethod | (string & {});

function makeMatcher(name: keyof CallMatchers, method: AnyMethod): Matcher {
  return match(name, method, (call) => (call.method === method ? call.keys : null));
}

/** @param textsOf what the pattern is compared with; `null` if the call does not match */
function match(
  name: keyof CallMatchers,
  what: string,
  textsOf: (call: AnyCall) => readonly string[] | null,
): Matcher {
  return (calls, wanted, { times, ...fields } = {}) => {
    const all = [...calls];
    const pattern = wanted === undefined ? null : toPlainPattern(wanted);
    const found = all.filter((call) => {
      const texts = textsOf(call);
      return (
        texts !== null &&
        (pattern === null || texts.some((each) => matchesPattern(pattern, each))) &&
        Object.entries(fields).every(([field, value]) => call[field as keyof AnyCall] === value)
      );
    });
    const pass = times === undefined ? found.length > 0 : found.length === times;
    const expected = [
      what,
      ...(wanted === undefined ? [] : [`of ${String(wanted)}`]),
      ...(Object.keys(fields).length === 0 ? [] : [`with ${JSON.stringify(fields)}`]),
      ...(times === undefined ? [] : [`${times} times`]),
    ].join(" ");
    return {
      pass,
      message: () =>
        `expect(calls).${pass ? "not." : ""}${name}(): expected ${pass ? "no " : ""}${expected}, ` +
        `found ${found.length}. Calls:\n${listCalls(all)}`,
    };
  };
}

function listCalls(calls: readonly AnyCall[]): string {
  if (calls.length === 0) return "  none";
  return calls.map((call) => `  ${showCall(call)}`).join("\n");
}

/** For `expect.extend()`. */
export const callMatchers = {
  toHavePut: makeMatcher("toHavePut", "put"),
  toHaveGot: makeMatcher("toHaveGot", "get"),
  toHaveHeaded: makeMatcher("toHaveHeaded", "head"),
  toHaveDeleted: makeMatcher("toHaveDeleted", "delete"),
  toHaveListed: makeMatcher("toHaveListed", "list"),
  toHaveUploaded: makeMatcher("toHaveUploaded", "completeMultipartUpload"),
  toHaveCalled: (calls: Iterable<AnyCall>, method: AnyMethod, ...conditions: Conditions) =>
    makeMatcher("toHaveCalled", method)(calls, ...conditions),
  toHaveRunSql: match("toHaveRunSql", "SQL", (call) => call.statements ?? null),
};
