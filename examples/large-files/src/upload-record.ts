/**
 * What the server keeps of an upload that is under way.
 *
 * A bucket does not list the parts of an upload, and to complete one their etags are needed. The
 * browser could keep them; but then only that browser could go on, and what it remembers could be
 * more than what has arrived. So the server keeps them, and the browser only the id of the upload.
 *
 * They are objects in a bucket of their own:
 *
 *     <id>/upload        the key, the size, and how the file is cut, as JSON
 *     <id>/parts/00007   an empty object; its metadata has the etag of part 7
 *
 * An object a part, and not one list: parts arrive several at once, and of two that write the same
 * list one would be lost. The record of a part is written after the part, so what is on record has
 * arrived; a part whose record was not written is sent again.
 */

export interface UploadRecord {
  id: string;
  /** Where the file will be */
  key: string;
  size: number;
  partSize: number;
  /** The bucket's own id of the upload */
  uploadId: string;
}

const idPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const recordKey = (id: string) => `${id}/upload`;
const partPrefix = (id: string) => `${id}/parts/`;
const partKey = (id: string, partNumber: number) =>
  `${partPrefix(id)}${String(partNumber).padStart(5, "0")}`;

export async function saveUpload(bucket: StoreBucket, record: UploadRecord): Promise<void> {
  await bucket.put(recordKey(record.id), JSON.stringify(record));
}

export async function findUpload(bucket: StoreBucket, id: string): Promise<UploadRecord | null> {
  if (!idPattern.test(id)) return null;
  const object = await bucket.get(recordKey(id));
  return object === null ? null : object.json<UploadRecord>();
}

export async function savePart(bucket: StoreBucket, id: string, part: StoreUploadedPart) {
  const customMetadata = { etag: part.etag };
  await bucket.put(partKey(id, part.partNumber), null, { customMetadata });
}

/** The parts that have arrived, in the order of their numbers. */
export async function savedParts(bucket: StoreBucket, id: string): Promise<StoreUploadedPart[]> {
  const prefix = partPrefix(id);
  const parts: StoreUploadedPart[] = [];
  for await (const object of objectsBelow(bucket, prefix)) {
    const partNumber = Number(object.key.slice(prefix.length));
    parts.push({ partNumber, etag: object.customMetadata?.["etag"] ?? "" });
  }
  return parts;
}

export async function forgetParts(bucket: StoreBucket, id: string): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of objectsBelow(bucket, partPrefix(id))) keys.push(key);
  // As many as a delete may name
  for (let start = 0; start < keys.length; start += 1000) {
    await bucket.delete(keys.slice(start, start + 1000));
  }
}

/** The record goes last: as long as it is there, what is left can be found. */
export async function forgetUpload(bucket: StoreBucket, id: string): Promise<void> {
  await forgetParts(bucket, id);
  await bucket.delete(recordKey(id));
}

async function* objectsBelow(bucket: StoreBucket, prefix: string): AsyncGenerator<StoreObject> {
  let cursor: string | undefined;
  do {
    const page: StoreObjects = await bucket.list({
      prefix,
      include: ["customMetadata"],
      ...(cursor !== undefined && { cursor }),
    });
    yield* page.objects;
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
}
