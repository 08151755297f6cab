/**
 * A call of the record API: its request with a body up to a limit for each kind, and its response, a
 * JSON envelope {result, success, errors, messages, result_info}, in this order.
 */
import { isNestedTooDeep, nestingLevelsMax } from "../../src/base/nesting.ts";
import type { DnsConfig } from "../../src/dns/config/dns-config.ts";
import { problem, ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import type { Account } from "../../src/dns/rules/zone.ts";
import { concatBytes } from "../../src/dns/wire/bytes.ts";
import { zoneFileText } from "../../src/dns/zone-file/parse.ts";
import type { Env, ObjectReply } from "../objects/object-call.ts";
import type { Access } from "./access.ts";

export interface ApiCall {
  readonly request: Request;
  /** Without a trailing slash. */
  readonly path: string;
  readonly parameters: ReadonlyMap<string, string>;
  /** The placeholders of the route, by name. */
  readonly ids: Readonly<Record<string, string>>;
  readonly access: Access;
  readonly env: Env;
  readonly config: DnsConfig;
  readonly account: Account;
  /** Of a request of another process, which repeats it if the answer is lost. */
  readonly requestId: string | null;
}

/** Of a path, by method. */
export type Handlers = Readonly<
  Record<string, (call: ApiCall) => ObjectReply | Response | Promise<ObjectReply | Response>>
>;

/** @throws ZoneError for a method that the path does not have */
export function findMethod<Handler>(
  methods: Readonly<Record<string, Handler>>,
  method: string,
): Handler {
  const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (handler === undefined) throw new ZoneError([problem.methodNotAllowed(method)]);
  return handler;
}

/** The shortest delay that the header can express: an injected fault may have ended by then. */
const retryAfterSeconds = 1;

export function failure(problems: readonly Problem[]): Response {
  const status = problems[0]?.status ?? 500;
  const errors = problems.map(({ code, message, error_chain }) => ({ code, message, error_chain }));
  const body = { result: null, success: false, errors, messages: [] };
  const headers = new Headers(
    status === 429 ? { "retry-after": String(retryAfterSeconds) } : undefined,
  );
  return Response.json(body, { status, headers });
}

export function success(json: string, rest: Readonly<Record<string, unknown>> = {}): Response {
  const tail = JSON.stringify({ success: true, errors: [], messages: [], ...rest }).slice(1);
  const headers = { "content-type": "application/json" };
  return new Response(`{"result":${json},${tail}`, { headers });
}

/** An object does not know the path of the request, which the "no route" problem contains. */
export function respond(reply: ObjectReply, path: string): Response {
  if (reply.ok) {
    const { resultInfo: result_info, timing, messages = [] } = reply;
    return success(reply.json, { messages, result_info, timing });
  }
  const noRoute = problem.noRoute(path);
  return failure(reply.problems.map((found) => (found.code === noRoute.code ? noRoute : found)));
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** Room for the largest batch of ordinary records. */
const jsonBytesMax = 4 * 1024 * 1024;
/** The deployed service's limit for a zone file. A form adds its other parts and boundaries. */
const zoneFileBytesMax = 262_144;
const formBytesMax = zoneFileBytesMax + 65_536;

/** A client that sends more than this after its reply is cut off. */
const drainedBytesMax = 64 * 1024 * 1024;

/**
 * Discards the unread rest. A client whose connection closes while it still sends never reads the
 * reply.
 */
export async function drainBody(request: Request): Promise<void> {
  if (request.body === null || request.body.locked) return;
  let total = 0;
  try {
    for await (const chunk of request.body) {
      total += chunk.length;
      if (total > drainedBytesMax) return;
    }
  } catch {
    // The client has disconnected.
  }
}

/**
 * `null` when the body is larger; its rest can still be read.
 *
 * @throws ZoneError when the client disconnects before the end of the body
 */
export async function readBytes({ body }: Request, bytesMax: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  try {
    for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
      total += chunk.length;
      if (total > bytesMax) return null;
      chunks.push(chunk);
    }
  } catch {
    // Nothing else fails here. It is no failure of the server, and needs no message in its log.
    throw new ZoneError([problem.bodyIncomplete()]);
  }
  return concatBytes(chunks);
}

export function isContentType(request: Request, type: string): boolean {
  const given = request.headers.get("content-type") ?? "";
  return given.split(";")[0]!.trim().toLowerCase() === type;
}

async function readContent(request: Request, type: string, bytesMax: number): Promise<Uint8Array> {
  if (!isContentType(request, type)) throw new ZoneError([problem.contentType(type)]);
  const bytes = await readBytes(request, bytesMax);
  if (bytes === null) throw new ZoneError([problem.bodyTooLarge(bytesMax)]);
  return bytes;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export async function readJson(request: Request): Promise<JsonObject> {
  const bytes = await readContent(request, "application/json", jsonBytesMax);
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    throw new ZoneError([problem.malformedJson()]);
  }
  // The call to a zone object would run out of stack.
  if (isNestedTooDeep(body)) throw new ZoneError([problem.nestedTooDeep(nestingLevelsMax)]);
  if (!isObject(body)) throw new ZoneError([problem.bodyNotAnObject()]);
  return body;
}

export async function readImportForm(
  request: Request,
): Promise<{ readonly text: string; readonly proxied: boolean }> {
  const bytes = await readContent(request, "multipart/form-data", formBytesMax);
  const type = request.headers.get("content-type")!;
  // A form replaces octets of a text that are not UTF-8.
  const body = new TextEncoder().encode(zoneFileText(bytes));
  let form: FormData;
  try {
    form = await new Response(body, { headers: { "content-type": type } }).formData();
  } catch {
    throw new ZoneError([problem.fileMissing()]);
  }
  const file = form.get("file") as string | Blob | null;
  if (file === null) throw new ZoneError([problem.fileMissing()]);
  const size = typeof file === "string" ? new TextEncoder().encode(file).length : file.size;
  const escapesBytes = body.length - bytes.length;
  if (size - escapesBytes > zoneFileBytesMax)
    throw new ZoneError([problem.fileTooLarge(zoneFileBytesMax)]);
  const proxied = form.get("proxied") ?? "false";
  if (proxied !== "true" && proxied !== "false")
    throw new ZoneError([problem.notABoolean("proxied")]);
  return { text: typeof file === "string" ? file : await file.text(), proxied: proxied === "true" };
}
