/**
 * Calls of a bucket as spans in the trace of the script's invocation: `store_get` and so on, for the
 * explorer of a dev server. Only an observed binding has this class around its calls.
 */
import { type Method, methodNames } from "../core/errors.ts";
import type { PartReference } from "../core/multipart.ts";
import type { ObjectRecord, Operation, Request, Result } from "../core/operations.ts";
import { keysOf } from "../core/fault.ts";
import type {
  Value,
  BucketCalls,
  GetRequest,
  PartRequest,
  PutRequest,
  OpenedObject,
} from "./bucket-calls.ts";

/** The tracing of workerd. A span ends when the promise of its function settles. */
export interface Tracing {
  enterSpan<Value>(name: string, run: (span: TraceSpan) => Promise<Value>): Promise<Value>;
}

interface TraceSpan {
  setAttribute(name: string, value: string | number): void;
}

type Outcome = "ok" | "none";

export class TracedCalls implements BucketCalls {
  readonly #calls: BucketCalls;
  readonly #bucketName: string;
  readonly #tracing: Tracing;

  constructor(calls: BucketCalls, bucketName: string, tracing: Tracing) {
    this.#calls = calls;
    this.#bucketName = bucketName;
    this.#tracing = tracing;
  }

  call<M extends Method, Made>(
    request: Request<M>,
    make: (result: Result<M>) => Made,
  ): Promise<Made> {
    const { method } = request;
    const keys = keysOf(request as Operation);
    return this.#trace(method, keys, null, (span) =>
      this.#calls.call(request, (result) => {
        // These methods have no result.
        const hasNone = method === "delete" || method === "abortUpload";
        describe(span, !hasNone && result === null ? "none" : "ok");
        return make(result);
      }),
    );
  }

  get<Made>(request: GetRequest, make: (opened: OpenedObject | null) => Made): Promise<Made> {
    return this.#trace("get", [request.key], null, (span) =>
      this.#calls.get(request, (opened) => {
        if (opened?.status === "found") describe(span, "ok", opened.range.length);
        else describe(span, "none");
        return make(opened);
      }),
    );
  }

  put(request: PutRequest): Promise<ObjectRecord | null> {
    return this.#trace("put", [request.key], lengthOf(request.value), async (span) => {
      const stored = await this.#calls.put(request);
      describe(span, stored === null ? "none" : "ok");
      return stored;
    });
  }

  uploadPart(request: PartRequest): Promise<PartReference> {
    return this.#trace("uploadPart", [request.key], lengthOf(request.value), async (span) => {
      const part = await this.#calls.uploadPart(request);
      span.setAttribute("part", request.partNumber);
      describe(span, "ok");
      return part;
    });
  }

  #trace<Made>(
    method: Method,
    keys: readonly string[],
    bytes: number | null,
    run: (span: TraceSpan) => Promise<Made>,
  ): Promise<Made> {
    return this.#tracing.enterSpan(`store_${methodNames[method]}`, (span) => {
      span.setAttribute("bucket", this.#bucketName);
      span.setAttribute("key", keys[0] ?? "");
      if (keys.length > 1) span.setAttribute("keys", keys.length);
      if (bytes !== null) span.setAttribute("bytes", bytes);
      return run(span).catch((error: unknown) => {
        span.setAttribute("outcome", "error");
        span.setAttribute("error", error instanceof Error ? error.message : String(error));
        throw error;
      });
    });
  }
}

function describe(span: TraceSpan, outcome: Outcome, bytes?: number): void {
  if (bytes !== undefined) span.setAttribute("bytes", bytes);
  span.setAttribute("outcome", outcome);
}

/** `null` for a stream whose length only its end tells. */
function lengthOf(value: Value): number | null {
  return "bytes" in value ? value.bytes.length : value.length;
}
