/** Describes the results of a bucket as JSON for comparison. */
import { hexOf, type Platform } from "./decode.ts";
import type { Call, Json } from "./operation.ts";

/** The members that the classes of the binding, of R2 and of the model have in common. */
export interface AnyObject {
  readonly key: string;
  readonly version: string;
  readonly size: number;
  readonly etag: string;
  readonly httpEtag: string;
  readonly uploaded: Date;
  readonly httpMetadata?: Record<string, string | Date | undefined> | undefined;
  readonly customMetadata?: Record<string, string> | undefined;
  readonly range?: { offset: number; length: number } | undefined;
  readonly checksums: { toJSON(): Record<string, string | undefined> };
  readonly storageClass: string;
  writeHttpMetadata(headers: Headers): void;
}

export interface AnyObjectBody extends AnyObject {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  text(): Promise<string>;
  blob(): Promise<Blob>;
}

export interface AnyPage {
  readonly objects: readonly AnyObject[];
  readonly delimitedPrefixes: readonly string[];
  readonly truncated: boolean;
  readonly cursor?: string;
}

export function describeObject(object: AnyObject): Json {
  return {
    key: object.key,
    version: object.version,
    size: object.size,
    etag: object.etag,
    httpEtag: object.httpEtag,
    uploaded: object.uploaded.getTime(),
    ...(object.httpMetadata && { httpMetadata: plain(object.httpMetadata) }),
    ...(object.customMetadata && { customMetadata: plain(object.customMetadata) }),
    ...(object.range && { range: plain(object.range) }),
    checksums: plain(object.checksums.toJSON()),
    storageClass: object.storageClass,
    headers: describeWrittenHeaders(object),
  };
}

/** Omits undefined fields, writes dates as text, and sorts the fields. */
function plain(record: object): Json {
  const entries = Object.entries(record).filter(([, value]) => value !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]),
  );
}

function describeWrittenHeaders(object: AnyObject): Json {
  const headers = new Headers();
  try {
    object.writeHttpMetadata(headers);
  } catch (error) {
    return String(error);
  }
  return [...headers].map(([name, value]) => `${name}: ${value}`);
}

export async function describeBody(
  object: AnyObjectBody,
  { read = "arrayBuffer", platform }: { read?: Call["read"]; platform: Platform },
): Promise<Json> {
  const usedBefore = object.bodyUsed;
  const { bytes, type } = await readers[read](object);
  return {
    used: `${usedBefore}, ${object.bodyUsed}`,
    ...(bytes && { size: bytes.length, md5: hexOf(await platform.digest("md5", bytes)) }),
    ...(type !== undefined && { type }),
  };
}

interface Read {
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly type?: string;
}

const readers: Record<NonNullable<Call["read"]>, (object: AnyObjectBody) => Promise<Read>> = {
  arrayBuffer: async (object) => ({ bytes: new Uint8Array(await object.arrayBuffer()) }),
  bytes: async (object) => ({ bytes: await object.bytes() }),
  text: async (object) => ({ bytes: new TextEncoder().encode(await object.text()) }),
  async blob(object) {
    const blob = await object.blob();
    return { bytes: new Uint8Array(await blob.arrayBuffer()), type: blob.type };
  },
  body: async (object) => ({
    bytes: new Uint8Array(await new Response(object.body).arrayBuffer()),
  }),
  async cancel(object) {
    await object.body.cancel();
    return {};
  },
};

export function describePage(page: AnyPage): Json {
  return {
    objects: page.objects.map(describeObject),
    delimitedPrefixes: [...page.delimitedPrefixes],
    truncated: page.truncated,
    hasCursor: page.cursor !== undefined,
  };
}
