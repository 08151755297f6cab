/**
 * Sends one file: by one request, or in parts. What has been sent stays with the item, so a call that
 * is made again after a pause, a failure or a reload continues with the missing parts.
 *
 * An object that exists is not overwritten unless the person says so: every write says
 * `overwrite=false`. For a large file the key is looked up first as well, because a person would
 * rather decide before the bytes are sent.
 */
import { multipartEtag } from "../../../store/core/multipart.ts";
import type { CallAttempts } from "./call-attempts.ts";
import { partRange, partSize, planParts, singleBytesMax } from "./part-plan.ts";
import type { TransferSlots } from "./transfer-slots.ts";
import type { Multipart, UploadItem } from "./upload-item.ts";
import type { UploadRecords } from "./upload-record.ts";
import { isKeyTaken, isUploadGone, type UploadTransport } from "./upload-transport.ts";

export interface SendContext {
  readonly transport: UploadTransport;
  readonly attempts: CallAttempts;
  readonly slots: TransferSlots;
  /** How many parts of one file wait for a slot at once. */
  readonly partsAtOnce: number;
  readonly records: UploadRecords;
  /** The MD5 of the content in hexadecimal: the entity tag of a part, or of an object in one piece. */
  readonly digest: (content: Blob) => Promise<string>;
  readonly onProgress: (item: UploadItem, partNumber: number, bytes: number) => void;
  readonly onChange: () => void;
}

/** The chosen file is not the file whose first parts the store has. */
export class FileDiffersError extends Error {
  override readonly name = "FileDiffersError";
}

/** An upload that the store loses again and again is not begun for ever. */
const restartsMax = 2;

/** @throws ApiCallError, FileDiffersError, UnreadableFileError, or the reason of the signal */
export async function sendFile(
  item: UploadItem,
  context: SendContext,
  signal: AbortSignal,
): Promise<"done" | "exists"> {
  let restarts = 0;
  for (;;) {
    try {
      const isLarge = item.size > singleBytesMax || item.multipart !== null;
      const outcome = await (isLarge ? sendInParts : sendAtOnce)(item, context, signal);
      if (outcome === "done" || item.choice !== "keep both") return outcome;
      // The parts belong to the first key, and cannot be used for another.
      await dropUpload(item, context, signal);
      item.takeNextKey();
    } catch (error) {
      if (!isUploadGone(error) || item.multipart === null) throw error;
      forgetUpload(item, context);
      if (++restarts > restartsMax) throw error;
      item.isUnverified = false;
      item.message =
        "The store did not have the upload any more: it has expired, or was aborted. " +
        "The file is uploaded from the start.";
    }
  }
}

async function sendAtOnce(
  item: UploadItem,
  { transport, attempts, slots, digest, onProgress }: SendContext,
  signal: AbortSignal,
): Promise<"done" | "exists"> {
  const { bucket, key, contentType } = item;
  const body = item.file as File;
  const overwrite = item.choice === "replace";
  let wasSent = item.isRepeated;
  try {
    await attempts.run(
      signal,
      () =>
        slots.use(signal, () => {
          wasSent = item.isRepeated;
          item.isRepeated = true;
          return transport.putObject(
            { bucket, key, overwrite, ...(contentType !== undefined && { contentType }) },
            { body, signal, onProgress: (bytes) => onProgress(item, 0, bytes) },
          );
        }),
      body,
    );
    return "done";
  } catch (error) {
    if (overwrite || !isKeyTaken(error)) throw error;
    // The store may have the file from an attempt whose response was lost.
    if (wasSent) {
      const found = await attempts.run(signal, () => transport.findObject({ bucket, key }));
      if (found?.size === body.size && found.etag === (await digest(body))) return "done";
    }
    return "exists";
  } finally {
    item.endProgress(0);
  }
}

async function sendInParts(
  item: UploadItem,
  context: SendContext,
  signal: AbortSignal,
): Promise<"done" | "exists"> {
  const { transport, attempts } = context;
  if (item.multipart === null) {
    if (item.choice !== "replace") {
      const found = await attempts.run(signal, () => transport.findObject(item));
      if (found !== null) return "exists";
    }
    await createUpload(item, context, signal);
  } else {
    await readParts(item, context, signal);
    if (item.isUnverified) await verifyFile(item, context);
  }
  item.isUnverified = false;
  await sendParts(item, context, signal);
  return completeUpload(item, context, signal);
}

/** The call is not aborted: an upload whose id is not known could not be aborted later. */
async function createUpload(
  item: UploadItem,
  { transport, attempts, records }: SendContext,
  signal: AbortSignal,
): Promise<void> {
  const { bucket, key, contentType, name, size, lastModified } = item;
  const target = { bucket, key, ...(contentType !== undefined && { contentType }) };
  const project = await attempts.run(signal, () => transport.project());
  const uploadId = await attempts.run(signal, () => transport.createUpload(target));
  const plan = planParts(size);
  item.multipart = { uploadId, plan, parts: new Map() };
  const { partBytes } = plan;
  records.save({ project, bucket, key, uploadId, name, size, lastModified, partBytes });
}

/** Reads which parts the store has. Parts of another size are sent again. */
export async function readParts(
  item: UploadItem,
  { transport, attempts, onChange }: SendContext,
  signal: AbortSignal,
): Promise<void> {
  const { uploadId, plan, parts } = item.multipart as Multipart;
  const { bucket, key } = item;
  const stored = await attempts.run(signal, () => transport.listParts({ bucket, key, uploadId }));
  parts.clear();
  for (const { partNumber, etag, size } of stored) {
    const isPlanned = partNumber <= plan.count && size === partSize(plan, partNumber);
    if (isPlanned) parts.set(partNumber, etag);
  }
  onChange();
}

/** Compares the first and the last uploaded part with the file. */
async function verifyFile(item: UploadItem, { digest, onChange }: SendContext): Promise<void> {
  const { plan, parts } = item.multipart as Multipart;
  const numbers = [...parts.keys()].sort((a, b) => a - b);
  const compared = new Set([numbers[0], numbers.at(-1)].filter((number) => number !== undefined));
  item.state = "checking";
  onChange();
  for (const partNumber of compared) {
    const { start, end } = partRange(plan, partNumber);
    if ((await digest((item.file as File).slice(start, end))) !== parts.get(partNumber)) {
      throw new FileDiffersError(
        `“${item.name}” has other content than the file of this upload, which began with another file.`,
      );
    }
  }
  item.state = "uploading";
  onChange();
}

async function sendParts(
  item: UploadItem,
  { transport, attempts, slots, partsAtOnce, onProgress }: SendContext,
  signal: AbortSignal,
): Promise<void> {
  const { uploadId, plan, parts } = item.multipart as Multipart;
  const { bucket, key } = item;
  // A part that fails ends the others: the file is not completed without it.
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const missing = missingParts(item.multipart as Multipart);
  const sendNext = async (): Promise<void> => {
    for (const partNumber of missing) {
      const { start, end } = partRange(plan, partNumber);
      const body = (item.file as File).slice(start, end);
      const target = { bucket, key, uploadId, partNumber };
      const send = () =>
        transport.putPart(target, {
          body,
          signal: either,
          onProgress: (bytes) => onProgress(item, partNumber, bytes),
        });
      try {
        const { etag } = await attempts.run(either, () => slots.use(either, send), body);
        parts.set(partNumber, etag);
      } finally {
        item.endProgress(partNumber);
      }
    }
  };
  const workers = Array.from({ length: partsAtOnce }, () =>
    sendNext().catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(workers);
  signal.throwIfAborted();
  failed.signal.throwIfAborted();
}

/** One iterator for all workers: each takes the next part. */
function* missingParts({ plan, parts }: Multipart): Generator<number, undefined> {
  for (let partNumber = 1; partNumber <= plan.count; partNumber++) {
    if (!parts.has(partNumber)) yield partNumber;
  }
}

/** The call is not aborted: whether the object exists would not be known. */
async function completeUpload(
  item: UploadItem,
  context: SendContext,
  signal: AbortSignal,
): Promise<"done" | "exists"> {
  const { transport, attempts } = context;
  const { uploadId, parts } = item.multipart as Multipart;
  const { bucket, key } = item;
  const overwrite = item.choice === "replace";
  const named = Array.from(parts, ([partNumber, etag]) => ({ partNumber, etag }));
  named.sort((a, b) => a.partNumber - b.partNumber);
  try {
    await attempts.run(signal, () =>
      transport.completeUpload({ bucket, key, uploadId, overwrite }, named),
    );
  } catch (error) {
    if (!overwrite && isKeyTaken(error)) return "exists";
    if (!isUploadGone(error)) throw error;
    // The store may have completed the upload by an attempt whose response was lost.
    const found = await attempts.run(signal, () => transport.findObject({ bucket, key }));
    if (found?.etag !== multipartEtag(named)) throw error;
  }
  forgetUpload(item, context);
  return "done";
}

/** Aborts the upload in parts of an item, if there is one. An upload that is gone is no error. */
export async function dropUpload(
  item: UploadItem,
  context: Pick<SendContext, "transport" | "attempts" | "records">,
  signal: AbortSignal,
): Promise<void> {
  if (item.multipart === null) return;
  const { uploadId } = item.multipart;
  const { bucket, key } = item;
  try {
    await context.attempts.run(signal, () =>
      context.transport.abortUpload({ bucket, key, uploadId }),
    );
  } catch (error) {
    if (!isUploadGone(error)) throw error;
  }
  forgetUpload(item, context);
}

function forgetUpload(item: UploadItem, { records }: Pick<SendContext, "records">): void {
  if (item.multipart !== null) records.remove(item.multipart.uploadId);
  item.multipart = null;
}
