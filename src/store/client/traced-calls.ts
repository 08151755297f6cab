/**
 * Calls of a bucket as spans in the trace of the script's invocation: `store_get` and so on, for the
 * explorer of a dev server.
 */
import { callNames, type Method } from "../core/errors.ts";
import { keysOf } from "../core/fault.ts";
import type { Operation } from "../core/operations.ts";
import type { BucketCalls, Value } from "./bucket-calls.ts";

/** The tracing of workerd. A span ends when the promise of its function settles. */
export interface Tracing {
  enterSpan<Value>(name: string, run: (span: TraceSpan) => Promise<Value>): Promise<Value>;
}

interface TraceSpan {
  setAttribute(name: string, value: string | number): void;
}

/** @param tracing of the runtime; without it, the calls are not traced */
export function tracedCalls(
  calls: BucketCalls,
  bucketName: string,
  tracing: Tracing | undefined,
): BucketCalls {
  if (tracing === undefined) return calls;
  const trace = <Made>(
    method: Method,
    keys: readonly string[],
    bytes: number | null,
    run: (span: TraceSpan) => Promise<Made>,
  ): Promise<Made> =>
    tracing.enterSpan(`store_${callNames[method] ?? method}`, (span) => {
      span.setAttribute("bucket", bucketName);
      span.setAttribute("key", keys[0] ?? "");
      if (keys.length > 1) span.setAttribute("keys", keys.length);
      if (bytes !== null) span.setAttribute("bytes", bytes);
      return run(span).catch((error: unknown) => {
        span.setAttribute("outcome", "error");
        span.setAttribute("error", error instanceof Error ? error.message : String(error));
        throw error;
      });
    });
  return {
    call: (request, make) => {
      const { method } = request;
      return trace(method, keysOf(request as Operation), null, (span) =>
        calls.call(request, (result) => {
          // These methods have no result.
          const hasNone = method === "delete" || method === "abortUpload";
          span.setAttribute("outcome", !hasNone && result === null ? "none" : "ok");
          return make(result);
        }),
      );
    },
    get: (request, make) =>
      trace("get", [request.key], null, (span) =>
        calls.get(request, (opened) => {
          const isFound = opened?.status === "found";
          if (isFound) span.setAttribute("bytes", opened.range.length);
          span.setAttribute("outcome", isFound ? "ok" : "none");
          return make(opened);
        }),
      ),
    put: (request) =>
      trace("put", [request.key], lengthOf(request.value), async (span) => {
        const stored = await calls.put(request);
        span.setAttribute("outcome", stored === null ? "none" : "ok");
        return stored;
      }),
    uploadPart: (request) =>
      trace("uploadPart", [request.key], lengthOf(request.value), async (span) => {
        const part = await calls.uploadPart(request);
        span.setAttribute("part", request.partNumber);
        span.setAttribute("outcome", "ok");
        return part;
      }),
  };
}

/** `null` for a stream whose length only its end tells. */
function lengthOf(value: Value): number | null {
  return "bytes" in value ? value.bytes.length : value.length;
}
