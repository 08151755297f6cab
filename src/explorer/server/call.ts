/** A request of the explorer's API, its response, and its failure. */
import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import type { ApiFailure } from "../api/project.ts";

export interface ExplorerRequest {
  /** The values of the path's parameters, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  /** The body, which is read once. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Aborted when the browser goes away. */
  readonly signal: AbortSignal;
}

export interface ExplorerResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
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
export async function readJson(call: ExplorerRequest): Promise<unknown> {
  return parseJson(await readText(call));
}

async function readText(call: ExplorerRequest): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of call.body) {
    bytes += chunk.length;
    if (bytes > jsonBytesMax) throw new CallError(413, "The body of the request is too large.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CallError(400, "The body of the request is not JSON.");
  }
}

/** @throws CallError */
export function requireParameter(call: ExplorerRequest, name: string): string {
  const value = call.query.get(name);
  if (value === null) throw new CallError(400, `The query has no "${name}".`);
  return value;
}

/** @throws CallError with the first mistake of a body that is not as the schema says */
export async function readInput<Output>(
  call: ExplorerRequest,
  schema: v.GenericSchema<unknown, Output>,
): Promise<Output> {
  return checked(await readJson(call), schema);
}

/** `readInput`, for JSON in a field of an HTML form. */
export async function readFormField<Output>(
  call: ExplorerRequest,
  name: string,
  schema: v.GenericSchema<unknown, Output>,
): Promise<Output> {
  const field = new URLSearchParams(await readText(call)).get(name);
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
