/** Matchers for the calls of buckets: `expect(calls).toHavePut("a.png")`. */
import type { Call, CallMethod } from "../store/core/recorded-call.ts";
import { matchesPattern, toPlainPattern, type TextPattern } from "../base/text-pattern.ts";

/** Further conditions on a call. */
export interface CallDetails {
  bucket?: string;
  bytes?: number;
  outcome?: Call["outcome"];
  code?: number;
  /** The exact number of matching calls; without it, one or more */
  times?: number;
}

interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

type Matcher = (calls: Iterable<Call>, key?: TextPattern, details?: CallDetails) => MatcherResult;

export interface CallMatchers {
  toHavePut(key?: TextPattern, details?: CallDetails): void;
  toHaveGot(key?: TextPattern, details?: CallDetails): void;
  toHaveHeaded(key?: TextPattern, details?: CallDetails): void;
  toHaveDeleted(key?: TextPattern, details?: CallDetails): void;
  /** The key is the prefix. */
  toHaveListed(prefix?: TextPattern, details?: CallDetails): void;
  /** Completed a multipart upload. `toHaveCalled()` matches the other calls of an upload. */
  toHaveUploaded(key?: TextPattern, details?: CallDetails): void;
  /** Called the given method. */
  toHaveCalled(method: CallMethod, key?: TextPattern, details?: CallDetails): void;
}

function matcherOf(name: string, method: CallMethod): Matcher {
  return (calls, key, details = {}) => matchCalls([...calls], { name, method, key, details });
}

function matchCalls(
  calls: readonly Call[],
  expected: {
    name: string;
    method: CallMethod;
    key: TextPattern | undefined;
    details: CallDetails;
  },
): MatcherResult {
  const { name, method, key, details } = expected;
  const { times, ...fields } = details;
  const pattern = key === undefined ? null : toPlainPattern(key);
  const found = calls.filter(
    (call) =>
      call.method === method &&
      (pattern === null || call.keys.some((each) => matchesPattern(pattern, each))) &&
      Object.entries(fields).every(([field, value]) => call[field as keyof Call] === value),
  );
  const pass = times === undefined ? found.length > 0 : found.length === times;
  const wanted = [
    method,
    ...(key === undefined ? [] : [`of ${String(key)}`]),
    ...(Object.keys(fields).length === 0 ? [] : [`with ${JSON.stringify(fields)}`]),
    ...(times === undefined ? [] : [`${times} times`]),
  ].join(" ");
  return {
    pass,
    message: () =>
      `expect(calls).${pass ? "not." : ""}${name}(): expected ${pass ? "no " : ""}${wanted}, ` +
      `found ${found.length}. Calls:\n${listCalls(calls)}`,
  };
}

function listCalls(calls: readonly Call[]): string {
  if (calls.length === 0) return "  none";
  return calls
    .map(({ bucket, method, keys, bytes, outcome, code }) => {
      const result = outcome === "error" ? `error ${code}` : outcome;
      return `  ${method} ${keys.join(", ")} in ${bucket}: ${result}, ${bytes} bytes`;
    })
    .join("\n");
}

/** For `expect.extend()`. */
export const callMatchers = {
  toHavePut: matcherOf("toHavePut", "put"),
  toHaveGot: matcherOf("toHaveGot", "get"),
  toHaveHeaded: matcherOf("toHaveHeaded", "head"),
  toHaveDeleted: matcherOf("toHaveDeleted", "delete"),
  toHaveListed: matcherOf("toHaveListed", "list"),
  toHaveUploaded: matcherOf("toHaveUploaded", "completeMultipartUpload"),
  toHaveCalled: (
    calls: Iterable<Call>,
    method: CallMethod,
    key?: TextPattern,
    details?: CallDetails,
  ) => matchCalls([...calls], { name: "toHaveCalled", method, key, details: details ?? {} }),
};
