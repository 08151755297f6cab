/** Forwards calls of the page to the record API, with the access of the project. */
import { fetchAlone } from "../../base/node-http.ts";
import { CallError, type ExplorerRequest, type ExplorerResponse } from "./call.ts";
import type { DnsAccess } from "./dns-follower.ts";

/** The record API takes at most 4 MiB: the rest is for its own refusal to be heard. */
const bodyBytesMax = 16 * 1024 * 1024;
/** Longer than an import of a large zone file takes. */
const answerMilliseconds = 60_000;
/** No other type is shown by a browser, whatever the server says. */
const knownType = /^(?:application\/json|text\/plain)\b/;

export interface DnsCall extends ExplorerRequest {
  readonly context: { readonly dns: () => Promise<DnsAccess | null> };
}

/** @throws CallError when the project has no DNS */
export async function requireDns({ context }: DnsCall): Promise<DnsAccess> {
  const dns = await context.dns();
  if (dns !== null) return dns;
  throw new CallError(409, "This project has no DNS. Add [dns] to the configuration.");
}

export async function forwardCall(call: DnsCall, method: string): Promise<ExplorerResponse> {
  const dns = await requireDns(call);
  const search = call.query.size === 0 ? "" : `?${call.query.toString()}`;
  const body = await readBody(call);
  const contentType = call.headers["content-type"];
  const response = await fetchRecordApi(dns, `${call.parameters["rest"] ?? ""}${search}`, {
    method,
    ...(contentType !== undefined && { headers: { "content-type": contentType } }),
    ...(body.length > 0 && { body }),
    signal: call.signal,
  });
  return passOn(response);
}

/**
 * @param rest the path below `/client/v4/`, and the query
 * @throws CallError
 */
export async function fetchRecordApi(
  { apiUrl, headers }: DnsAccess,
  rest: string,
  init: {
    readonly method: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | Uint8Array<ArrayBuffer>;
    readonly signal: AbortSignal;
  },
): Promise<Response> {
  const [, path = "", search = ""] = /^([^?]*)(.*)$/s.exec(rest) ?? [];
  const allowed = recordApiPath(path);
  if (allowed === null) throw new CallError(400, "The path is not a path of the record API.");
  const url = new URL(`${allowed}${search}`, apiUrl);
  const { signal, ...others } = init;
  return fetchAnswer(url, { ...others, headers: { ...headers, ...init.headers } }, signal);
}

/** The answer of the record API, as a response of the explorer. */
export function passOn(response: Response): ExplorerResponse {
  const answered = response.headers.get("content-type") ?? "";
  return {
    status: response.status,
    headers: { "content-type": knownType.test(answered) ? answered : "application/octet-stream" },
    ...(response.body !== null && { body: response.body }),
  };
}

/** The rest of a body that is too large is read too: a browser hears the refusal only then. */
async function readBody({ body }: DnsCall): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes <= bodyBytesMax) chunks.push(chunk);
  }
  if (bytes > bodyBytesMax) throw new CallError(413, "The body of the request is too large.");
  return Buffer.concat(chunks);
}

/** The signals count until the head arrives: the sender of the body ends it when the browser goes away. */
async function fetchAnswer(
  url: URL,
  init: Parameters<typeof fetchAlone>[1],
  gone: AbortSignal,
): Promise<Response> {
  const ended = new AbortController();
  const late = setTimeout(
    () => ended.abort(new Error("no answer arrived in time")),
    answerMilliseconds,
  );
  const leave = (): void => ended.abort(new Error("the page has gone away"));
  gone.addEventListener("abort", leave);
  try {
    return await fetchAlone(url, { ...init, signal: ended.signal });
  } catch (error) {
    const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException };
    const reason = cause?.code ?? cause?.message ?? message;
    throw new CallError(
      502,
      `The record API at ${url.origin} does not answer: ${reason}. ` +
        "Start ledge dev or ledge explore again if its DNS has ended.",
    );
  } finally {
    clearTimeout(late);
    gone.removeEventListener("abort", leave);
  }
}

/**
 * The path of a call of the record API. Whatever the page sends stays below `/client/v4`: other paths
 * of the same server change the state of tests and have no business in a browser.
 */
const root = "/client/v4/";

/** @returns `null` for a path that would lead elsewhere */
export function recordApiPath(rest: string): string | null {
  const isPlain = rest.split("/").every((segment) => {
    const decoded = decode(segment);
    // A server that decodes the path before it resolves dot segments would leave the root.
    return decoded !== null && decoded !== "" && !/^\.{1,2}$|[/\\]/.test(decoded);
  });
  if (!isPlain) return null;
  const { pathname } = new URL(`http://server${root}${rest}`);
  return pathname === `${root}${rest}` ? pathname : null;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
