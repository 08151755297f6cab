/** A call of the explorer's API: its route, what its handler works with, its response, and its failure. */
import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import type { S3Access } from "../../s3/s3-table.ts";
import type { StorageClass } from "../../store/core/operations.ts";
import type { StoreClient } from "../../store/node/store-client.ts";
import type { ApiFailure, DnsInfo, ProjectInfo } from "../api/project.ts";

/** Where the companion worker is. */
export interface DnsAccess extends DnsInfo {
  /** The headers that give access to the record API, and name the explorer. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface ExplorerContext {
  readonly store: StoreClient;
  /** The store's time: milliseconds since the epoch. */
  readonly storeTime: () => Promise<number>;
  /** The class of a bucket's objects that are stored without one. */
  readonly storageClassOf: (bucketName: string) => StorageClass;
  /** The bindings that lead to a bucket, by its name. */
  readonly bindings: () => ReadonlyMap<string, readonly string[]>;
  readonly project: () => Promise<Omit<ProjectInfo, "s3" | "version">>;
  /** The S3-compatible API, for links; `null` while there is none. */
  readonly s3: () => S3Access | null;
  /** Starts DNS if DNS starts on demand; `null` when the project has no DNS. */
  readonly dns: () => Promise<DnsAccess | null>;
}

export interface ExplorerCall {
  readonly context: ExplorerContext;
  readonly method: string;
  /** The values of the path's parameters, decoded; `rest` is what `*` stands for, as it is. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  /** The body, which is read once. */
  readonly body: IncomingMessage;
  /** Aborted when the browser goes away. */
  readonly signal: AbortSignal;
}

export interface ExplorerResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
}

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Segments that begin with a colon are parameters: `/api/buckets/:bucket/object`. */
  readonly path: string;
  /** @throws CallError, StoreError, UserError */
  handle(call: ExplorerCall): Promise<ExplorerResponse>;
}

type Found =
  | { readonly route: Route; readonly parameters: Readonly<Record<string, string>> }
  /** No route has the path; or one has it with other methods. */
  | { readonly route: null; readonly methods: readonly string[] };

export function findRoute(routes: readonly Route[], method: string, path: string): Found {
  const methods: string[] = [];
  for (const route of routes) {
    const parameters = matchPath(route.path, path);
    if (parameters === null) continue;
    if (route.method === method || (route.method === "GET" && method === "HEAD")) {
      return { route, parameters };
    }
    methods.push(route.method);
  }
  return { route: null, methods };
}

/** @returns `null` for another path, and for a segment that is not valid percent-encoding */
function matchPath(pattern: string, path: string): Record<string, string> | null {
  const source = pattern.replaceAll(/:(\w+)/g, "(?<$1>[^/]+)").replace("*", "(?<rest>.+)");
  const { groups } = new RegExp(`^${source}$`).exec(path) ?? {};
  if (groups === undefined) return pattern === path ? {} : null;
  const { rest, ...segments } = groups;
  try {
    const decoded = Object.entries(segments).map(([name, text]) => [
      name,
      decodeURIComponent(text),
    ]);
    return { ...Object.fromEntries(decoded), ...(rest !== undefined && { rest }) };
  } catch {
    return null;
  }
}

/** A call that cannot be answered. The message says what to do. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly status: number;
  readonly code: number | undefined;

  constructor(status: number, message: string, code?: number) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Larger than any body of the API that is not content. */
const jsonBytesMax = 8 * 1024 * 1024;

export function json(value: unknown, status = 200): ExplorerResponse {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8" },
    body: JSON.stringify(value),
  };
}

export function failure(status: number, message: string, code?: number): ExplorerResponse {
  const body: ApiFailure = { message, ...(code !== undefined && { code }) };
  return json(body, status);
}

/** @throws CallError */
export async function readJson(call: ExplorerCall): Promise<unknown> {
  return parseJson((await readBody(call)).toString());
}

/**
 * The rest of a body that is too large is read, too: a browser hears the refusal only then.
 *
 * @throws CallError
 */
export async function readBody(
  { body }: ExplorerCall,
  bytesMax = jsonBytesMax,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  if (bytes > bytesMax) throw new CallError(413, "The body of the request is too large.");
  return Buffer.concat(chunks);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CallError(400, "The body of the request is not JSON.");
  }
}

/** @throws CallError */
export function requireParameter(call: ExplorerCall, name: string): string {
  const value = call.query.get(name);
  if (value === null) throw new CallError(400, `The query has no "${name}".`);
  return value;
}

/** @throws CallError with the first mistake of a body that is not as the schema says */
export async function readInput<Output>(
  call: ExplorerCall,
  schema: v.GenericSchema<unknown, Output>,
): Promise<Output> {
  return checked(await readJson(call), schema);
}

/** `readInput`, for JSON in a field of an HTML form. */
export async function readFormField<Output>(
  call: ExplorerCall,
  name: string,
  schema: v.GenericSchema<unknown, Output>,
): Promise<Output> {
  const field = new URLSearchParams((await readBody(call)).toString()).get(name);
  if (field === null) throw new CallError(400, `The form has no field "${name}".`);
  return checked(parseJson(field), schema);
}

function checked<Output>(given: unknown, schema: v.GenericSchema<unknown, Output>): Output {
  const { success, output, issues } = v.safeParse(schema, given);
  if (success) return output;
  const [{ path, message, input }] = issues;
  const place = path?.map(({ key }) => String(key)).join(".") ?? "";
  const subject = place === "" ? "The body of the request" : `"${place}" of the request`;
  const problem = input === undefined ? "is missing" : `is not valid: ${message}`;
  throw new CallError(400, `${subject} ${problem}.`);
}
