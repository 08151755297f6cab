/** Reads request bodies, up to a limit for each kind. */
import { concatBytes } from "../../src/dns/wire/bytes.ts";
import { problem, ZoneError } from "../../src/dns/record/problem.ts";

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
  const reader = request.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  let total = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    total += value.length;
    if (total > drainedBytesMax) return reader.cancel();
  }
}

async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let total = 0;
  const reader = request.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    total += value.length;
    if (total > bytesMax) {
      reader.releaseLock();
      throw new ZoneError([problem.bodyTooLarge(bytesMax)]);
    }
    chunks.push(value);
  }
  return concatBytes(chunks);
}

function isContentType(request: Request, type: string): boolean {
  const given = request.headers.get("content-type") ?? "";
  return given.split(";")[0]!.trim().toLowerCase() === type;
}

export async function readJson(request: Request): Promise<Readonly<Record<string, unknown>>> {
  if (!isContentType(request, "application/json")) {
    throw new ZoneError([problem.contentType("application/json")]);
  }
  const bytes = await readBytes(request, jsonBytesMax);
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes));
  } catch {
    throw new ZoneError([problem.malformedJson()]);
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ZoneError([problem.bodyNotAnObject()]);
  }
  return body as Readonly<Record<string, unknown>>;
}

export interface ImportForm {
  readonly text: string;
  readonly proxied: boolean;
}

export async function readImportForm(request: Request): Promise<ImportForm> {
  if (!isContentType(request, "multipart/form-data")) {
    throw new ZoneError([problem.contentType("multipart/form-data")]);
  }
  const bytes = await readBytes(request, formBytesMax);
  const type = request.headers.get("content-type")!;
  let form: FormData;
  try {
    form = await new Response(bytes, { headers: { "content-type": type } }).formData();
  } catch {
    throw new ZoneError([problem.fileMissing()]);
  }
  const file = form.get("file") as string | Blob | null;
  if (file === null) throw new ZoneError([problem.fileMissing()]);
  const size = typeof file === "string" ? new TextEncoder().encode(file).length : file.size;
  if (size > zoneFileBytesMax) throw new ZoneError([problem.fileTooLarge(zoneFileBytesMax)]);
  const proxied = form.get("proxied") ?? "false";
  if (proxied !== "true" && proxied !== "false")
    throw new ZoneError([problem.notABoolean("proxied")]);
  return { text: typeof file === "string" ? file : await file.text(), proxied: proxied === "true" };
}
