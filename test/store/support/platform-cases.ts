/**
 * Uses of a bucket whose outcome depends on the class of the binding, not on the bucket behind it.
 * `platform-class.test.ts` runs them in workerd, on Ledge's class and on the platform's own.
 */
import type { StoreBucket, StoreConditional } from "../../../src/types/store.ts";

type Case = (bucket: StoreBucket) => Promise<unknown>;

const key = "a";
const fields = [
  "key",
  "version",
  "size",
  "etag",
  "httpEtag",
  "uploaded",
  "httpMetadata",
  "customMetadata",
  "range",
  "checksums",
  "storageClass",
];

async function head(bucket: StoreBucket) {
  await bucket.put(key, "hello", { sha1: "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d" });
  return (await bucket.head(key))!;
}

/** The error of an assignment, or what the field holds afterwards. */
function assign(object: object, field: string): unknown {
  const fieldsOf = object as Record<string, unknown>;
  try {
    fieldsOf[field] = "assigned";
    return fieldsOf[field];
  } catch (error) {
    return (error as Error).name;
  }
}

/** A value for `ssecKey`, as a script in JavaScript would pass it. */
function encryption(ssecKey: unknown): object {
  return { ssecKey };
}

const hexKey = "0f".repeat(32);

async function isRead(bucket: StoreBucket, onlyIf: StoreConditional | Headers): Promise<boolean> {
  await head(bucket);
  const object = await bucket.get(key, { onlyIf });
  return object !== null && "body" in object;
}

async function expiry(bucket: StoreBucket, cacheExpiry: Date | number): Promise<unknown> {
  const object = await bucket.put(key, "x", { httpMetadata: { cacheExpiry: cacheExpiry as Date } });
  return object.httpMetadata?.cacheExpiry?.getTime();
}

function sharedBytes(): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(3);
  new Uint8Array(shared).set([1, 2, 3]);
  return shared;
}

async function storedBytes(bucket: StoreBucket, value: unknown): Promise<number[]> {
  await bucket.put(key, value as ArrayBuffer);
  return [...new Uint8Array(await (await bucket.get(key))!.arrayBuffer())];
}

export const cases = {
  "checksums can be spread": async (bucket) => {
    const { md5, sha1, sha256 } = { ...(await head(bucket)).checksums };
    return [md5?.byteLength, sha1?.byteLength, sha256 === undefined];
  },
  "checksums in a list can be spread": async (bucket) => {
    await head(bucket);
    const { objects } = await bucket.list({ prefix: key });
    const { md5 } = { ...objects[0]!.checksums };
    return md5?.byteLength ?? null;
  },
  "checksums in a list can be logged": async (bucket) => {
    await head(bucket);
    const { inspect } = await import("node:util");
    const { objects } = await bucket.list({ prefix: key });
    return inspect(objects[0], { depth: 5 }).includes("<5d 41 40 2a bc 4b 2a 76 b9");
  },
  "checksums can be logged": async (bucket) => {
    const { inspect } = await import("node:util");
    return inspect(await head(bucket), { depth: 5 }).includes("<5d 41 40 2a bc 4b 2a 76 b9");
  },
  "checksums become text in JSON": async (bucket) => JSON.stringify((await head(bucket)).checksums),
  "a hash is one buffer": async (bucket) => {
    const { checksums } = await head(bucket);
    return checksums.md5 === checksums.md5;
  },
  "a hash cannot be replaced": async (bucket) => assign((await head(bucket)).checksums, "md5"),
  "fields can be added, defined and deleted": async (bucket) => {
    const object = (await head(bucket)) as object as Record<string, unknown>;
    const added = assign(object, "added");
    Object.defineProperty(object, "etag", { value: "defined" });
    return [added, object["etag"], delete object["key"], object["key"] === undefined];
  },
  "the body cannot be replaced": async (bucket) => {
    await head(bucket);
    const object = (await bucket.get(key))!;
    await object.text();
    return [assign(object, "body"), assign(object, "bodyUsed"), assign(object, "text")];
  },
  "writeHttpMetadata() writes what is stored": async (bucket) => {
    const object = await bucket.put(key, "x", { httpMetadata: { contentType: "a/b" } });
    (object.httpMetadata as { contentType: string }).contentType = "c/d";
    const headers = new Headers();
    object.writeHttpMetadata(headers);
    return [headers.get("content-type"), object.httpMetadata?.contentType];
  },
  "fields cannot be replaced": async (bucket) => {
    const object = await head(bucket);
    return fields.map((field) => assign(object, field));
  },
  "structuredClone() refuses an object": async (bucket) => structuredClone(await head(bucket)).size,
  "structuredClone() refuses an upload": async (bucket) =>
    structuredClone(await bucket.createMultipartUpload(key)).key,
  "structuredClone() refuses a bucket": async (bucket) => Object.keys(structuredClone(bucket)),
  "list() begins with an empty cursor": async (bucket) => {
    await head(bucket);
    const { objects, truncated } = await bucket.list({ cursor: "" });
    return [objects.map((object) => object.key), truncated];
  },
  "list() with an empty cursor follows startAfter": async (bucket) =>
    (await bucket.list({ cursor: "", startAfter: key })).objects.length,
  "put() takes a SharedArrayBuffer": (bucket) => storedBytes(bucket, sharedBytes()),
  "put() takes a view of a SharedArrayBuffer": (bucket) =>
    storedBytes(bucket, new Uint8Array(sharedBytes(), 1)),
  "put() takes a resizable ArrayBuffer": (bucket) =>
    storedBytes(bucket, new ArrayBuffer(2, { maxByteLength: 4 })),
  "uploadPart() takes a SharedArrayBuffer": async (bucket) => {
    const upload = await bucket.createMultipartUpload(key);
    const part = await upload.uploadPart(1, sharedBytes() as unknown as ArrayBuffer);
    return (await upload.complete([part])).size;
  },
  "ssecKey takes hexadecimal": async (bucket) => {
    await bucket.put(key, "x", encryption(hexKey));
    return (await bucket.get(key, encryption(hexKey)))?.text();
  },
  "ssecKey takes 32 bytes": async (bucket) =>
    (await bucket.put(key, "x", encryption(new Uint8Array(32)))).size,
  "ssecKey refuses capitals": (bucket) => bucket.put(key, "x", encryption(hexKey.toUpperCase())),
  "ssecKey refuses other text": (bucket) => bucket.get(key, encryption("no key")),
  "ssecKey refuses an empty text": (bucket) => bucket.get(key, encryption("")),
  "ssecKey refuses null": (bucket) => bucket.createMultipartUpload(key, encryption(null)),
  "ssecKey refuses a short text": (bucket) => bucket.put(key, "x", encryption("abc")),
  "ssecKey refuses a number": (bucket) => bucket.put(key, "x", encryption(5)),
  "ssecKey refuses few bytes": (bucket) => bucket.put(key, "x", encryption(new ArrayBuffer(31))),
  "uploadPart() checks ssecKey": async (bucket) => {
    const upload = await bucket.createMultipartUpload(key);
    const withOptions = upload as { uploadPart(...args: unknown[]): Promise<unknown> };
    return withOptions.uploadPart(1, "x", encryption("short"));
  },
  "conditions refuse the year 1600": (bucket) =>
    isRead(bucket, { uploadedBefore: new Date("1600-01-01") }),
  "conditions refuse the year 2300": (bucket) =>
    isRead(bucket, { uploadedAfter: new Date("2300-01-01") }),
  "conditions take the year 2190": (bucket) =>
    isRead(bucket, { uploadedBefore: new Date("2190-01-01") }),
  "cacheExpiry refuses the first millisecond before its range": (bucket) =>
    expiry(bucket, -9_223_372_036_855),
  "cacheExpiry takes the first millisecond of its range": (bucket) =>
    expiry(bucket, -9_223_372_036_854),
  "cacheExpiry takes the last millisecond of its range": (bucket) =>
    expiry(bucket, new Date(9_223_372_036_854)),
  "cacheExpiry refuses the first millisecond after its range": (bucket) =>
    expiry(bucket, 9_223_372_036_855),
  "conditions compare dates before 1970": (bucket) =>
    isRead(bucket, { uploadedAfter: new Date("1969-01-01") }),
  "an Expires header may name any year": async (bucket) => {
    const httpMetadata = new Headers({ expires: "Fri, 01 Jan 2300 00:00:00 GMT" });
    return (await bucket.put(key, "x", { httpMetadata })).httpMetadata?.cacheExpiry?.getTime();
  },
} satisfies Record<string, Case>;
