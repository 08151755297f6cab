/** Calls of the explorer's API. A call that fails throws an `ApiCallError` with a sentence for people. */
import type { ApiFailure } from "../api/project.ts";
import type { DnsEnvelope, DnsProblem } from "../api/zones-api.ts";

export class ApiCallError extends Error {
  override readonly name = "ApiCallError";
  /** 0 when there was no response. */
  readonly status: number;
  /** The code of the store, if the store refused the call. */
  readonly code: number | undefined;

  constructor(status: number, message: string, code?: number) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * The page lives below a path that is a secret of its own, which is the first segment of its address
 * (`server/access-rule.ts`). Every address of the page and of the API begins with it.
 */
export const pageBase: string = /^\/~[^/]+/.exec(globalThis.location?.pathname ?? "")?.[0] ?? "";

export interface CallOptions {
  readonly method?: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: Blob | FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The path of a bucket in the API. */
export function bucketPath(bucket: string, rest = ""): string {
  return `/api/buckets/${encodeURIComponent(bucket)}${rest}`;
}

export function apiUrl(path: string, query: CallOptions["query"] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  return `${pageBase}${path}${search.size === 0 ? "" : `?${search.toString()}`}`;
}

/** @throws ApiCallError, or the reason of an aborted signal */
export async function callApi<Result>(path: string, options: CallOptions = {}): Promise<Result> {
  const { method = "GET", query, json, body, headers, signal } = options;
  let response: Response;
  try {
    response = await fetch(apiUrl(path, query), {
      method,
      headers: { ...(json !== undefined && { "content-type": "application/json" }), ...headers },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(body !== undefined && { body }),
      ...(signal !== undefined && { signal }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw unreachable(error);
  }
  const text = await response.text().catch((error: unknown) => {
    throw unreachable(error);
  });
  if (!response.ok) throw readFailure(response.status, text);
  return (text === "" ? undefined : JSON.parse(text)) as Result;
}

/** There was no response. */
export function unreachable(cause: unknown): ApiCallError {
  const error = new ApiCallError(
    0,
    "The explorer does not answer: the command that served this page has ended. " +
      "Start ledge dev or ledge explore again; this page then goes on.",
  );
  error.cause = cause;
  return error;
}

export function readFailure(status: number, text: string): ApiCallError {
  try {
    const { message, code, errors } = JSON.parse(text) as ApiFailure & Partial<DnsEnvelope<never>>;
    if (errors === undefined) return new ApiCallError(status, message, code);
    return new ApiCallError(status, errors.map(problemText).join("\n"), errors[0]?.code);
  } catch {
    return new ApiCallError(status, `The explorer answered with the status ${status}.`);
  }
}

/** A line for each problem of the record API, with the API's own messages and codes. */
function problemText({ message, code, error_chain = [] }: DnsProblem): string {
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  return [`${sentence} (${code})`, ...error_chain.map(problemText)].join(" ");
}
