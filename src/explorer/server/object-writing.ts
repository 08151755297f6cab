/** `PUT` of content: the body goes to the bucket as it arrives, and is never whole in memory. */
import { lookup } from "mrmime";
import { StoreError } from "../../store/core/errors.ts";
import { uploadBytesMax } from "../../store/core/limits.ts";
import type { Content } from "../../store/core/operations.ts";
import { type HttpMetadata, validateMetadata } from "../../store/core/metadata.ts";
import { decodeObject } from "../../store/core/object.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import {
  explained,
  mayOverwrite,
  objectExists,
  requireBucket,
  requireKey,
  objectDetails,
} from "./bucket-access.ts";
import { onlyIfAbsent } from "./object-copy.ts";
import { CallError, json, type ExplorerResponse } from "./call.ts";
import { type ExplorerCall } from "./context.ts";

export async function writeObject(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const key = requireKey(call);
  const overwrite = mayOverwrite(call);
  const contentType = contentTypeOf(key, call.headers["content-type"]);
  const http: HttpMetadata = contentType === undefined ? {} : { contentType };
  validateMetadata(http, {});
  if (!overwrite) await requireAbsent(bucket, key);
  const content = await receiveContent(call, bucket, key);
  const stored = await bucket.call({
    method: "put",
    key,
    content,
    http,
    custom: {},
    storageClass: call.context.storageClassOf(bucket.name),
    ...(!overwrite && { onlyIf: onlyIfAbsent }),
  });
  if (stored === null) throw objectExists(key);
  return json(objectDetails(decodeObject(key, stored)));
}

/** What browsers take the source of a program for, by its extension: a video, or a translation of Qt. */
const notTypeScript: ReadonlySet<string | undefined> = new Set([
  "video/mp2t",
  "text/vnd.trolltech.linguist",
]);

/** What the browser knows of the file, or the type of the extension. */
function contentTypeOf(key: string, known: string | undefined): string | undefined {
  const type = known ?? lookup(key);
  return notTypeScript.has(type) ? "text/plain" : type;
}

/** Before the content is sent for nothing. The bucket decides when the content is stored. */
async function requireAbsent(bucket: Bucket, key: string): Promise<void> {
  if ((await bucket.call({ method: "head", key })) !== null) throw objectExists(key);
}

/** @throws CallError, also when the browser goes away; then nothing is left */
async function receiveContent(call: ExplorerCall, bucket: Bucket, key: string): Promise<Content> {
  try {
    if (Number(call.headers["content-length"] ?? 0) > uploadBytesMax) throw new StoreError(100100);
    return await bucket.write(bodyOf(call));
  } catch (error) {
    throw explained(error, { key });
  }
}

/** A person cancels an upload: the page breaks off the request, which is no error of Ledge. */
async function* bodyOf({ body }: ExplorerCall): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw Object.assign(new CallError(400, "The upload was broken off."), { cause: error });
  }
}
