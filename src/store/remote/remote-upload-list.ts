/**
 * Lists the uploads in progress of a bucket on an S3 service.
 *
 * Keys roll up into prefixes here, because Ceph leaves out uploads when it is asked for prefixes. Uploads
 * have the order of the service: Ceph compares the text of a key and its upload, so that `a-b` is before `a`.
 */
import { compareKeys, utf8Length } from "../core/key.ts";
import { keyBytesMax, listLimitMax } from "../core/limits.ts";
import { rollUp, validateLimit } from "../core/list.ts";
import { uploadStateAt } from "../core/multipart.ts";
import type { Request, Result, UploadPosition, UploadRecord } from "../core/operations.ts";
import type { S3Connection } from "./s3-connection.ts";
import {
  readUploads,
  type ServiceUpload,
  type UploadsPage,
  type UploadsQuery,
} from "./service-uploads.ts";
import { decodeUploadId, encodeUploadId } from "./upload-identity.ts";

type Marker = Pick<UploadsQuery, "keyMarker" | "uploadIdMarker">;

export class RemoteUploadList {
  readonly #connection: S3Connection;
  readonly #prefix: string;
  readonly #now: () => number;

  constructor(connection: S3Connection, prefix: string, now: () => number) {
    this.#connection = connection;
    this.#prefix = prefix;
    this.#now = now;
  }

  async list(request: Omit<Request<"listUploads">, "method">): Promise<Result<"listUploads">> {
    const { prefix, delimiter = "", after, limit } = request;
    validateLimit(limit);
    const whole = (this.#prefix + prefix).toWellFormed();
    const uploads: UploadRecord[] = [];
    const prefixes: string[] = [];
    if (utf8Length(whole) > keyBytesMax) return { uploads, prefixes, truncated: false };
    let last = after;
    let marker: Marker = after === undefined ? {} : this.#markerOf(after, prefix, delimiter);
    for (;;) {
      const query = { prefix: whole, limit: delimiter === "" ? limit : listLimitMax, ...marker };
      const page = await readUploads(this.#connection, query);
      for (const upload of this.#inProgress(page)) {
        const { key, uploadId } = upload;
        const rolledUp = rollUp(key, prefix, delimiter);
        // Keys with one prefix are neighbours. Ceph repeats the uploads of the key that is the marker.
        if (last?.uploadId === undefined && last?.key === (rolledUp ?? key)) continue;
        if (uploads.length + prefixes.length === limit && last !== undefined) {
          return { uploads, prefixes, truncated: true, next: last };
        }
        if (rolledUp === null) uploads.push(upload);
        else prefixes.push(rolledUp);
        last = rolledUp === null ? { key, uploadId } : { key: rolledUp };
      }
      const end = page.uploads.at(-1);
      if (!page.isTruncated || end === undefined) return { uploads, prefixes, truncated: false };
      if (uploads.length + prefixes.length === limit && last !== undefined) {
        return { uploads, prefixes, truncated: true, next: last };
      }
      marker = this.#markerAfter(end, prefix, delimiter);
    }
  }

  /** All uploads in progress. */
  async count(): Promise<number> {
    let count = 0;
    let after: UploadPosition | undefined;
    do {
      const page: Result<"listUploads"> = await this.list({
        prefix: "",
        limit: listLimitMax,
        ...(after !== undefined && { after }),
      });
      count += page.uploads.length;
      after = page.next;
    } while (after !== undefined);
    return count;
  }

  #inProgress({ uploads }: UploadsPage): UploadRecord[] {
    const now = this.#now();
    return uploads
      .filter(
        ({ created }) =>
          uploadStateAt({ state: "in progress", since: created }, now) === "in progress",
      )
      .map((upload) => {
        const key = upload.key.slice(this.#prefix.length);
        const uploadId = encodeUploadId(key, upload.serviceId);
        return { key, uploadId, created: upload.created, storageClass: "Standard" };
      });
  }

  /** After the last upload of a page, or after all keys with the prefix into which it rolls up. */
  #markerAfter({ key, serviceId }: ServiceUpload, prefix: string, delimiter: string): Marker {
    const own = { keyMarker: key, uploadIdMarker: serviceId };
    const rolledUp = rollUp(key.slice(this.#prefix.length), prefix, delimiter);
    if (rolledUp === null) return own;
    const next = this.#markerOf({ key: rolledUp }, prefix, delimiter);
    // Otherwise a key has the prefix and the last character, and the same page would come again.
    return compareKeys(key, next.keyMarker ?? "") < 0 ? next : own;
  }

  #markerOf({ key, uploadId }: UploadPosition, prefix: string, delimiter: string): Marker {
    if (compareKeys(key, prefix) < 0) return {};
    const keyMarker = (this.#prefix + key).toWellFormed();
    if (uploadId !== undefined) {
      return { keyMarker, uploadIdMarker: decodeUploadId(key, uploadId).serviceId };
    }
    // The page before ended with a prefix: the last character is after all keys with the prefix.
    const isPrefix = rollUp(key, prefix, delimiter) === key;
    return { keyMarker: isPrefix ? `${keyMarker}\u{10ffff}` : keyMarker };
  }
}
