/** Calls of the record API through the explorer. A refusal has the API's own messages and codes. */
import type { DnsEnvelope, DnsProblem } from "../../api/zones-api.ts";
import { ApiCallError, apiUrl, readFailure, unreachable } from "../api-client.ts";

/** The record API refused the call. */
export class DnsRefusal extends ApiCallError {
  readonly problems: readonly DnsProblem[];

  constructor(status: number, problems: readonly DnsProblem[]) {
    super(status, problems.map(problemText).join(" "), problems[0]?.code);
    this.problems = problems;
  }
}

export function problemText({ message, code, error_chain = [] }: DnsProblem): string {
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  return [`${sentence} (${code})`, ...error_chain.map(problemText)].join(" ");
}

/** The problems of any error of a call: an error that is no refusal is one problem without a code. */
export function problemsOf(error: unknown): readonly DnsProblem[] {
  if (error instanceof DnsRefusal) return error.problems;
  return [{ code: 0, message: (error as Error).message }];
}

interface DnsCallOptions {
  readonly method?: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly json?: unknown;
  readonly form?: FormData;
  readonly signal?: AbortSignal;
  /** The request goes on when the page ends. */
  readonly keepalive?: boolean;
}

/** The path of the record API in the explorer's. */
export function dnsPath(...segments: readonly string[]): string {
  return `/api/dns/${segments.map((segment) => encodeURIComponent(segment)).join("/")}`;
}

/** @throws ApiCallError, or the reason of an aborted signal */
export async function callDns<Result>(
  path: string,
  options: DnsCallOptions = {},
): Promise<DnsEnvelope<Result>> {
  const { method = "GET", query, json, form, signal, keepalive = false } = options;
  let response: Response;
  let text: string;
  try {
    response = await fetch(apiUrl(path, query), {
      method,
      keepalive,
      ...(json !== undefined && {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(json),
      }),
      ...(form !== undefined && { body: form }),
      ...(signal !== undefined && { signal }),
    });
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    throw unreachable(error);
  }
  const envelope = parseEnvelope<Result>(text);
  if (envelope === null) throw readFailure(response.status, text);
  if (!envelope.success) throw new DnsRefusal(response.status, envelope.errors);
  return envelope;
}

function parseEnvelope<Result>(text: string): DnsEnvelope<Result> | null {
  try {
    const body = JSON.parse(text) as Partial<DnsEnvelope<Result>> | null;
    return Array.isArray(body?.errors) ? (body as DnsEnvelope<Result>) : null;
  } catch {
    return null;
  }
}
