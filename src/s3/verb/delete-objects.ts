import { StoreError } from "../../store/core/errors.ts";
import { validateKey } from "../../store/core/key.ts";
import { deleteKeysMax } from "../../store/core/limits.ts";
import type { S3Bucket } from "../s3-bucket.ts";
import { S3Error, parseRequestDocument } from "../s3-error.ts";
import { xmlResponse, type S3Response } from "../s3-request.ts";
import {
  childrenOf,
  childText,
  type XmlElement,
  writeXml,
  type XmlElements,
} from "../../http/xml.ts";
import { requireOnlyVersion, type BucketCall } from "./verb-call.ts";

interface NamedObject {
  readonly key: string;
  readonly versionId: string | null;
  /** The object is deleted only if it has this entity tag. */
  readonly etag: string | null;
}

export async function deleteObjects({ request, bucket }: BucketCall): Promise<S3Response> {
  const objects = parseRequest(parseRequestDocument(await request.body.document(), "Delete"));
  const errors = new Map<NamedObject, XmlElements>();
  const plain: NamedObject[] = [];
  for (const object of objects) {
    try {
      requireOnlyVersion(object.versionId);
      validateKey(object.key);
      if (object.etag === null) plain.push(object);
      else await deleteWithTag(bucket, object.key, object.etag);
    } catch (error) {
      errors.set(object, errorElements(object, error));
    }
  }
  if (plain.length > 0) await bucket.call({ method: "delete", keys: plain.map(({ key }) => key) });
  // The deployed service lists what it has deleted even if the client has asked for silence.
  return xmlResponse(
    writeXml("DeleteResult", {
      Deleted: objects.filter((object) => !errors.has(object)).map(deletedElements),
      Error: [...errors.values()],
    }),
  );
}

function parseRequest(root: XmlElement): NamedObject[] {
  const objects = childrenOf(root, "Object").map((element) => ({
    key: childText(element, "Key"),
    versionId: childText(element, "VersionId"),
    etag: childText(element, "ETag"),
  }));
  const quiet = childText(root, "Quiet");
  const isValid =
    objects.length > 0 &&
    objects.length <= deleteKeysMax &&
    objects.every(({ key }) => key !== null) &&
    (quiet === null || quiet === "true" || quiet === "false");
  if (!isValid) throw new S3Error("MalformedXML");
  return objects as NamedObject[];
}

async function deleteWithTag(bucket: S3Bucket, key: string, etag: string): Promise<void> {
  const value = etag.replace(/^"(.*)"$/, "$1");
  const pattern = value === "*" ? ({ kind: "any" } as const) : ({ kind: "strong", value } as const);
  await bucket.call({ method: "delete", keys: [key], onlyIf: { etagMatches: [pattern] } });
}

function deletedElements({ key, versionId }: NamedObject): XmlElements {
  return { Key: key, VersionId: versionId };
}

function errorElements({ key, versionId }: NamedObject, error: unknown): XmlElements {
  if (error instanceof S3Error) {
    return { Key: key, VersionId: versionId, Code: error.code, Message: error.message };
  }
  if (error instanceof StoreError) {
    return { Key: key, VersionId: versionId, Code: error.s3Name, Message: error.message };
  }
  throw error;
}
