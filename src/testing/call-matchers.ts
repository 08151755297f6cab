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

type Conditions = [key?: TextPattern, details?: CallDetails];

type Matcher = (
  calls: Iterable<Call>,
  ...conditions: Conditions
) => { readonly pass: boolean; readonly message: () => string };

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

function makeMatcher(name: keyof CallMatchers, method: CallMethod): Matcher {
  return (calls, key, { times, ...fields } = {}) => {
    const all = [...calls];
    const pattern = key === undefined ? null : toPlainPattern(key);
    const found = all.filter(
      (call) =>
        call.method === method &&
        (pattern === null || call.keys.some((each) => matchesPattern(pattern, each))) &&
        Object.entries(fields).every(([field, value]) => call[field as keyof Call] === value),
    );
    const pass = times === undefined ? found.length > 0 : found.length === times;
    const expected = [
      method,
      ...(key === undefined ? [] : [`of ${String(key)}`]),
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
  toHavePut: makeMatcher("toHavePut", "put"),
  toHaveGot: makeMatcher("toHaveGot", "get"),
  toHaveHeaded: makeMatcher("toHaveHeaded", "head"),
  toHaveDeleted: makeMatcher("toHaveDeleted", "delete"),
  toHaveListed: makeMatcher("toHaveListed", "list"),
  toHaveUploaded: makeMatcher("toHaveUploaded", "completeMultipartUpload"),
  toHaveCalled: (calls: Iterable<Call>, method: CallMethod, ...conditions: Conditions) =>
    makeMatcher("toHaveCalled", method)(calls, ...conditions),
};
