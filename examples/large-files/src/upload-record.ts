/**
 * The records of an upload in progress.
 *
 * A bucket does not list the parts of an upload, and `complete()` needs their etags. If the browser
 * kept the etags, only that browser could continue, and it could list parts that were not stored.
 * So the server keeps the etags, and the browser keeps only the id of the upload.
 *
 * The records are objects in a second bucket:
 *
 *     <id>/upload        the key, the size and the part size, as JSON
 *     <id>/parts/00007   an empty object whose metadata contains the etag of part 7
 *
 * Each part has its own object, because parts arrive concurrently and two writers of one list would
 * lose an entry. The server writes the record after the part, so a recorded part is stored. The
 * client sends a part without a record again.
 */

export interface UploadRecord {
  id: string;
  /** The key of the file. */
  key: string;
  size: number;
  partSize: number;
  /** The bucket's id of the multipart upload. */
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

/** The recorded parts, in the order of their numbers. */
export async function savedParts(bucket: StoreBucket, id: string): Promise<StoreUploadedPart[]> {
  const prefix = partPrefix(id);
  const parts: StoreUploadedPart[] = [];
  for await (const object of objectsBelow(bucket, prefix)) {
    const partNumber = Number(object.key.slice(prefix.length));
    parts.push({ partNumber, etag: object.customMetadata?.["etag"] ?? "" });
  }
  return parts;
}

export async function deletePartRecords(bucket: StoreBucket, id: string): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of objectsBelow(bucket, partPrefix(id))) keys.push(key);
  // delete() takes at most 1000 keys.
  for (let start = 0; start < keys.length; start += 1000) {
    await bucket.delete(keys.slice(start, start + 1000));
  }
}

/** Deletes the record of the upload last, so that an interrupted deletion can be repeated. */
export async function deleteUploadRecords(bucket: StoreBucket, id: string): Promise<void> {
  await deletePartRecords(bucket, id);
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
