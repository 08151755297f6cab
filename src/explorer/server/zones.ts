/**
 * Zones: calls of the record API with the access of the project, and lookups at the name server.
 *
 * The record API has `data` for most types of records: here, every type has its content as a zone file has
 * it.
 */
import { fetchAlone } from "../../base/node-http.ts";
import { parseQuestion } from "../../dns/client/ask-server.ts";
import { digJson, digText, fetchReasons, timeQuestion } from "../../dns/client/dig.ts";
import { parseServer } from "../../dns/config/dns-table.ts";
import { contentRequest, typeNames } from "../../dns/record/presentation.ts";
import { recordTypes } from "../../dns/record/types.ts";
import { ttlSecondsMax, ttlSecondsMin } from "../../dns/record/zone-record.ts";
import type { DeleteRecordsTask } from "../api/tasks.ts";
import {
  unmodifiedHeader,
  type DnsEnvelope,
  type LookupAnswer,
  type RecordTypes,
} from "../api/zones-api.ts";
import {
  CallError,
  json,
  readBody,
  readJson,
  requireParameter,
  type DnsAccess,
  type ExplorerCall,
  type ExplorerResponse,
  type Route,
} from "./call.ts";

/** The record API takes at most 4 MiB: the rest is for its own refusal to be heard. */
const bodyBytesMax = 16 * 1024 * 1024;
/** Longer than an import of a large zone file takes. */
const answerMilliseconds = 60_000;
/** No other type is shown by a browser, whatever the server says. */
const knownType = /^(?:application\/json|text\/plain)\b/;

/** @throws CallError when the project has no DNS */
async function requireDns({ context }: ExplorerCall): Promise<DnsAccess> {
  const dns = await context.dns();
  if (dns !== null) return dns;
  throw new CallError(409, "This project has no DNS. Add [dns] to the configuration.");
}

async function forward(call: ExplorerCall): Promise<ExplorerResponse> {
  const { method, query, headers, parameters, signal } = call;
  const dns = await requireDns(call);
  const search = query.size === 0 ? "" : `?${query.toString()}`;
  const body = await readBody(call, bodyBytesMax);
  const contentType = headers["content-type"];
  const response = await fetchRecordApi(dns, `${parameters["rest"] ?? ""}${search}`, {
    method,
    ...(contentType !== undefined && { headers: { "content-type": contentType } }),
    ...(body.length > 0 && { body }),
    signal,
  });
  return passOn(response);
}

/** The answer of the record API, as a response of the explorer. */
function passOn(response: Response): ExplorerResponse {
  const answered = response.headers.get("content-type") ?? "";
  return {
    status: response.status,
    headers: { "content-type": knownType.test(answered) ? answered : "application/octet-stream" },
    ...(response.body !== null && { body: response.body }),
  };
}

interface RecordApiRequest {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Aborted when the page goes away. It counts until the head of the answer arrives. */
  readonly signal?: AbortSignal;
}

/**
 * @param rest the path below `/client/v4/`, and the query
 * @throws CallError
 */
async function fetchRecordApi(
  { apiUrl, headers }: DnsAccess,
  rest: string,
  { signal: gone, ...request }: RecordApiRequest,
): Promise<Response> {
  const url = recordApiUrl(apiUrl, rest);
  const ended = new AbortController();
  const end = (reason: string) => () => ended.abort(new Error(reason));
  const late = setTimeout(end("no answer arrived in time"), answerMilliseconds);
  const leave = end("the page has gone away");
  gone?.addEventListener("abort", leave);
  try {
    const all = { ...headers, ...request.headers };
    return await fetchAlone(url, { ...request, headers: all, signal: ended.signal });
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
    gone?.removeEventListener("abort", leave);
  }
}

/**
 * Whatever the page sends stays below `/client/v4/`: other paths of the same server change the state of
 * tests and have no business in a browser.
 *
 * @throws CallError for a path that would lead elsewhere
 */
export function recordApiUrl(apiUrl: string, rest: string): URL {
  const root = "/client/v4/";
  const url = URL.parse(`${root}${rest}`, apiUrl);
  // A server that decodes the path before it resolves dot segments would leave the root.
  const [path] = rest.split("?", 1) as [string];
  const isPlain = url?.pathname === `${root}${path}` && !/%(?:2e|2f|5c)|\/\//i.test(url.pathname);
  if (isPlain && path !== "" && !path.endsWith("/")) return url;
  throw new CallError(400, "The path is not a path of the record API.");
}

async function createRecord(call: ExplorerCall): Promise<ExplorerResponse> {
  return passOn(await writeRecord(call, recordsPath(call.parameters["zone"])));
}

async function changeRecord(call: ExplorerCall): Promise<ExplorerResponse> {
  const { zone, record } = call.parameters;
  const response = await writeRecord(call, recordsPath(zone, record));
  const isConditional = call.headers[unmodifiedHeader] !== undefined;
  if (isConditional && response.status === 404) {
    throw new CallError(412, "The record was deleted after you opened it. Add a new record.");
  }
  if (response.status === 412) {
    throw new CallError(412, "The record was changed after you opened it. Nothing was saved.");
  }
  return passOn(response);
}

async function writeRecord(call: ExplorerCall, path: string): Promise<Response> {
  const { method, signal } = call;
  const unmodified = call.headers[unmodifiedHeader];
  const headers = {
    "content-type": "application/json",
    ...(typeof unmodified === "string" && { [unmodifiedHeader]: unmodified }),
  };
  const dns = await requireDns(call);
  const body = JSON.stringify(withData(await readJson(call)));
  return fetchRecordApi(dns, path, { method, headers, body, signal });
}

function recordsPath(zone = "", record?: string): string {
  const path = `zones/${encodeURIComponent(zone)}/dns_records`;
  return record === undefined ? path : `${path}/${encodeURIComponent(record)}`;
}

/**
 * A request with `content` where the record API wants `data`. What is no such request passes, and the
 * record API says what is wrong.
 *
 * @throws CallError
 */
function withData(request: unknown): unknown {
  const { type, content, data, ...rest } = (request ?? {}) as Readonly<Record<string, unknown>>;
  const known = typeof type === "string" ? recordTypes.get(type.toUpperCase()) : undefined;
  if (known === undefined || typeof content !== "string" || data !== undefined) return request;
  const parsed = contentRequest(known, content);
  if (typeof parsed === "string") throw new CallError(400, parsed);
  return { type, ...rest, ...parsed };
}

/** Another program may delete a record first: nothing is left to do then. */
export async function deleteRecords(
  dns: DnsAccess,
  { zone, records }: DeleteRecordsTask,
  progress: {
    readonly isCancelled: boolean;
    succeed(): void;
    fail(key: string, message: string): void;
  },
): Promise<void> {
  for (const { id, name, type } of records) {
    if (progress.isCancelled) return;
    try {
      const response = await fetchRecordApi(dns, recordsPath(zone, id), { method: "DELETE" });
      if (response.ok || response.status === 404) progress.succeed();
      else {
        const { errors } = (await response.json()) as DnsEnvelope<unknown>;
        progress.fail(`${type} ${name}`, errors.map(({ message }) => message).join(" "));
      }
    } catch (error) {
      progress.fail(`${type} ${name}`, (error as Error).message);
    }
  }
}

/** What people can write: without the types that belong to the zone itself. */
function describeRecordTypes(): RecordTypes {
  const types = [...recordTypes.values()].filter(({ managedBy }) => managedBy === null);
  return {
    types: types.map(({ type, example, topLevelPriority, proxiable }) => ({
      type,
      example,
      hasPriority: topLevelPriority,
      isProxiable: proxiable,
    })),
    lookupTypes: typeNames,
    ttlSecondsMin,
    ttlSecondsMax,
  };
}

async function lookUp(call: ExplorerCall): Promise<LookupAnswer> {
  const { apiUrl, addresses, headers } = await requireDns(call);
  const name = requireParameter(call, "name").trim();
  const type = call.query.get("type")?.trim() ?? "";
  const question = parseQuestion(name, type === "" ? undefined : type);
  const options = { dnssec: call.query.get("dnssec") === "true", headers };
  // A project may serve no port for queries; the API then answers by HTTPS.
  const ports = call.query.get("transport") === "https" ? [] : addresses;
  const server = ports.map(parseServer).find((address) => address !== null) ?? apiUrl;
  const timed = await timeQuestion(question, server, options);
  const reasons = await fetchReasons(question, apiUrl, options);
  const { status, answers } = digJson({ ...timed, reasons });
  return {
    // The page lists the rules itself.
    text: digText({ ...timed, reasons: null }),
    rcode: status,
    answers,
    reasons,
    milliseconds: timed.milliseconds,
  };
}

const records = "/api/dns/zones/:zone/dns_records";
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

export const zoneRoutes: readonly Route[] = [
  { method: "POST", path: records, handle: createRecord },
  { method: "PATCH", path: `${records}/:record`, handle: changeRecord },
  ...methods.map((method) => ({ method, path: "/api/dns/*", handle: forward })),
  { method: "GET", path: "/api/record-types", handle: async () => json(describeRecordTypes()) },
  { method: "GET", path: "/api/lookup", handle: async (call) => json(await lookUp(call)) },
];
