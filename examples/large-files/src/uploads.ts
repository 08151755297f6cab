/**
 * Uploads: `/uploads`, `/uploads/<id>`, `/uploads/<id>/<part>`, `/uploads/<id>/complete`.
 *
 * A client that did not get a response can repeat every step. A repeated part replaces itself. The
 * metadata of a file contains the id of its upload, so a repeated `complete` finds the file.
 */
import { filePath } from "./files.ts";
import { fileSizeMax, missingParts, partLength, partSizeFor } from "./parts.ts";
import { errorCode, problem } from "./problem.ts";
import {
  findUpload,
  deletePartRecords,
  deleteUploadRecords,
  savedParts,
  savePart,
  saveUpload,
  type UploadRecord,
} from "./upload-record.ts";

const ended =
  "The upload has ended: it was aborted, or is older than seven days. Start a new upload.";
const unknown = "There is no such upload. Start one with POST /uploads.";

export async function routeUpload(env: Env, path: string, request: Request): Promise<Response> {
  const { method } = request;
  const [id, step, ...rest] = path.split("/").filter((name) => name !== "");
  if (id === undefined) {
    return method === "POST" ? createUpload(env, request) : notAllowed("POST");
  }
  const record = await findUpload(env.UPLOADS, id);
  if (record === null || rest.length > 0) return problem(404, unknown);
  if (step === undefined) {
    if (method === "GET") return describeUpload(env, record);
    return method === "DELETE" ? abortUpload(env, record) : notAllowed("GET, DELETE");
  }
  if (step === "complete") {
    return method === "POST" ? completeUpload(env, record) : notAllowed("POST");
  }
  return method === "PUT" ? uploadPart(env, record, Number(step), request) : notAllowed("PUT");
}

function notAllowed(allow: string): Response {
  return problem(405, `Use ${allow.replace(", ", " or ")}.`, { allow });
}

async function createUpload(env: Env, request: Request): Promise<Response> {
  const body = await request.json<Record<string, unknown> | null>().catch(() => null);
  const { name, size, type } = body ?? {};
  if (typeof name !== "string" || name === "" || new TextEncoder().encode(name).length > 1024) {
    return problem(400, 'Send JSON with a "name" of 1 to 1024 bytes.');
  }
  if (typeof size !== "number" || !Number.isInteger(size) || size < 0 || size > fileSizeMax) {
    return problem(400, 'Send JSON with the "size" of the file, in bytes.');
  }
  const id = crypto.randomUUID();
  const { uploadId } = await env.FILES.createMultipartUpload(name, {
    httpMetadata: {
      contentType: typeof type === "string" && type !== "" ? type : "application/octet-stream",
    },
    customMetadata: { upload: id },
  });
  const record = { id, key: name, size, partSize: partSizeFor(size), uploadId };
  await saveUpload(env.UPLOADS, record);
  return Response.json(describe(record, []), {
    status: 201,
    headers: { location: `/uploads/${id}` },
  });
}

/** The state that a client needs to continue: the part size and the stored parts. */
async function describeUpload(env: Env, record: UploadRecord): Promise<Response> {
  const file = await fileOf(env, record);
  if (file !== null) return Response.json({ ...describe(record, []), file: describeFile(file) });
  return Response.json(describe(record, await savedParts(env.UPLOADS, record.id)));
}

function describe({ id, key, size, partSize }: UploadRecord, parts: StoreUploadedPart[]) {
  return { id, key, size, partSize, parts: parts.map(({ partNumber }) => partNumber) };
}

function describeFile({ key, size, etag }: StoreObject) {
  return { key, size, etag, url: filePath(key) };
}

async function uploadPart(env: Env, record: UploadRecord, partNumber: number, request: Request) {
  const length = partLength(record, partNumber);
  if (length === null) return problem(404, "The file has no such part.");
  const sent = request.headers.get("content-length");
  if (sent !== null && Number(sent) !== length) {
    return problem(400, `Part ${partNumber} has ${length} bytes, not ${sent}.`);
  }
  try {
    const upload = env.FILES.resumeMultipartUpload(record.key, record.uploadId);
    const part = await upload.uploadPart(partNumber, request.body ?? "");
    await savePart(env.UPLOADS, record.id, part);
    return Response.json({ partNumber });
  } catch (error) {
    if (errorCode(error) !== 10024) throw error;
    await deleteUploadRecords(env.UPLOADS, record.id);
    return problem(410, ended);
  }
}

async function completeUpload(env: Env, record: UploadRecord): Promise<Response> {
  const existing = await fileOf(env, record);
  if (existing !== null) return completed(env, record, existing);

  const parts = await savedParts(env.UPLOADS, record.id);
  const missing = missingParts(record, parts);
  if (missing.length > 0) {
    return problem(409, `Parts are missing: ${missing.slice(0, 10).join(", ")}.`, {}, { missing });
  }
  try {
    const upload = env.FILES.resumeMultipartUpload(record.key, record.uploadId);
    return await completed(env, record, await upload.complete(parts));
  } catch (error) {
    if (errorCode(error) !== 10024) throw error;
    // Another request may have completed the upload in the meantime.
    const file = await fileOf(env, record);
    if (file !== null) return completed(env, record, file);
    await deleteUploadRecords(env.UPLOADS, record.id);
    return problem(410, ended);
  }
}

async function completed(env: Env, record: UploadRecord, file: StoreObject): Promise<Response> {
  // The record stays until the client deletes it, so that a repeated request finds the file.
  await deletePartRecords(env.UPLOADS, record.id);
  return Response.json(describeFile(file), {
    status: 201,
    headers: { location: filePath(file.key), etag: file.httpEtag },
  });
}

/** The file, if this upload created it. */
async function fileOf(env: Env, { id, key }: UploadRecord): Promise<StoreObject | null> {
  const file = await env.FILES.head(key);
  return file?.customMetadata?.["upload"] === id ? file : null;
}

/** Aborts the upload and deletes its records. For a completed upload, abort() changes nothing. */
async function abortUpload(env: Env, record: UploadRecord): Promise<Response> {
  await env.FILES.resumeMultipartUpload(record.key, record.uploadId).abort();
  await deleteUploadRecords(env.UPLOADS, record.id);
  return new Response(null, { status: 204 });
}
