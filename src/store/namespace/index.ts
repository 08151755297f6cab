/**
 * A worker that serves a KV namespace of a build from a bucket. workerd's KV binding speaks HTTP to it:
 *
 *     GET    /KEY?urlencoded=true&cache_ttl=SECONDS
 *     PUT    /KEY?urlencoded=true&expiration=TIME&expiration_ttl=SECONDS, with CF-KV-Metadata
 *     DELETE /KEY?urlencoded=true
 *     GET    /?key_count_limit=NUMBER&prefix=TEXT&cursor=TEXT
 *     POST   /bulk/get
 *
 * The binding shows a script the status and the reason phrase of a failure, so the phrase is the message.
 *
 * Each call asks the bucket: there is no cache, and a value that was put is what every runtime reads next. A
 * get or a list that meets an expired entry leaves it out, and removes its object after the answer.
 */
import type * as types from "../../types/store.ts";
import { mapConcurrent } from "../../base/concurrency.ts";
import {
  contentStart,
  entryOfCustom,
  entryToCustom,
  isExpired,
  NamespaceError,
  parseBulkQuery,
  parseEntry,
  parseListQuery,
  validateCacheTtl,
  validateKey,
  validateValueLength,
  valueBytesMax,
  type NamespaceEntry,
} from "./namespace-entry.ts";

interface Environment {
  readonly BUCKET: types.StoreBucket & HiddenCalls;
  /** Whether the service honours the condition of a delete, without which nothing expired is removed. */
  readonly REMOVES_EXPIRED: boolean;
}

/** `defineHiddenProperties()`: the interface of a script has no condition for a delete. */
interface HiddenCalls {
  "ledge:bucket"(name: "call", request: object): Promise<unknown>;
}

interface Found {
  readonly object: types.StoreObjectBody;
  readonly entry: NamespaceEntry;
}

type Expired = Pick<types.StoreObject, "key" | "etag">;

/** Requests to the service that a bulk get or a removal has at the same time. */
const requestsMax = 32;

export default {
  async fetch(request, environment, context): Promise<Response> {
    const namespace = new Namespace(environment);
    try {
      return await namespace.answer(request);
    } catch (error) {
      if (!request.bodyUsed) await request.body?.pipeTo(new WritableStream()).catch(() => {});
      return failure(error);
    } finally {
      context.waitUntil(namespace.removeExpired());
    }
  },
} satisfies ExportedHandler<Environment>;

/** A namespace during one request. */
class Namespace {
  readonly #environment: Environment;
  readonly #expired: Expired[] = [];

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (request.method === "POST") return this.#getMany(request);
    if (pathname === "/") return this.#list(searchParams);
    const key = keyOf(pathname, searchParams);
    validateKey(key);
    if (request.method === "PUT") return this.#put(key, searchParams, request);
    if (request.method === "DELETE") return this.#delete(key);
    return this.#get(key, searchParams);
  }

  async #get(key: string, query: URLSearchParams): Promise<Response> {
    validateCacheTtl(query.get("cache_ttl"));
    const found = await this.#find(key);
    if (found === null) throw new NamespaceError(404, "Not Found");
    const { expiration, metadata } = found.entry;
    const headers = new Headers();
    if (expiration !== undefined) headers.set("cf-expiration", String(expiration));
    if (metadata !== undefined) headers.set("cf-kv-metadata", metadata);
    return new Response(valueOf(found), { headers });
  }

  async #getMany(request: Request): Promise<Response> {
    const { keys, type, withMetadata } = parseBulkQuery(await request.text());
    const values = new Map<string, unknown>(keys.map((key) => [key, null]));
    let bytes = 0;
    await mapConcurrent(values.keys(), requestsMax, async (key) => {
      const found = await this.#find(key);
      if (found === null) return;
      bytes += found.object.size;
      if (bytes > valueBytesMax) {
        await found.object.body.cancel();
        const limit = valueBytesMax / 1024 / 1024;
        throw new NamespaceError(413, `Total size of request exceeds the limit of ${limit}MB`);
      }
      const value = parseValue(await new Response(valueOf(found)).text(), type);
      const { metadata } = found.entry;
      const parsed: unknown = metadata === undefined ? null : JSON.parse(metadata);
      // A value that is null in JSON is as absent.
      values.set(key, withMetadata && value !== null ? { value, metadata: parsed } : value);
    });
    return Response.json(Object.fromEntries(values));
  }

  async #put(key: string, query: URLSearchParams, { headers, body }: Request): Promise<Response> {
    const entry = parseEntry(
      {
        expiration: query.get("expiration"),
        expirationTtl: query.get("expiration_ttl"),
        metadata: headers.get("cf-kv-metadata"),
      },
      Date.now(),
    );
    const length = headers.get("content-length");
    if (length !== null) validateValueLength(Number(length));
    const start = new TextEncoder().encode(contentStart(entry));
    const size = length === null ? null : start.length + Number(length);
    const { readable, writable } =
      size === null ? new IdentityTransformStream() : new FixedLengthStream(size);
    const copied = copy(start, body, writable.getWriter());
    try {
      await this.#environment.BUCKET.put(key, readable, { customMetadata: entryToCustom(entry) });
    } catch (error) {
      // The stream passes on only the text of the error.
      throw (await Promise.race([copied, Promise.resolve(null)])) ?? error;
    }
    return new Response();
  }

  async #delete(key: string): Promise<Response> {
    await this.#environment.BUCKET.delete(key);
    return new Response();
  }

  async #list(query: URLSearchParams): Promise<Response> {
    const { limit, prefix, cursor: given } = parseListQuery(query);
    const keys: object[] = [];
    let cursor = given;
    do {
      const page = await this.#environment.BUCKET.list({
        prefix,
        limit: limit - keys.length,
        ...(cursor !== undefined && { cursor }),
        include: ["customMetadata"],
      });
      for (const object of page.objects) {
        const entry = entryOfCustom(object.customMetadata);
        if (isExpired(entry, Date.now())) this.#expired.push(object);
        else keys.push({ name: object.key, ...entry });
      }
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined && keys.length < limit);
    return Response.json(
      cursor === undefined ? { keys, list_complete: true } : { keys, list_complete: false, cursor },
    );
  }

  async #find(key: string): Promise<Found | null> {
    const object = await this.#environment.BUCKET.get(key);
    if (object === null) return null;
    const entry = entryOfCustom(object.customMetadata);
    if (!isExpired(entry, Date.now())) return { object, entry };
    await object.body.cancel();
    this.#expired.push(object);
    return null;
  }

  /** Removes the objects of expired entries that the request has met. */
  async removeExpired(): Promise<void> {
    const { BUCKET, REMOVES_EXPIRED } = this.#environment;
    if (!REMOVES_EXPIRED) return;
    await mapConcurrent(this.#expired, requestsMax, async ({ key, etag }) => {
      const onlyIf = { etagMatches: [{ kind: "strong", value: etag }] };
      try {
        await BUCKET["ledge:bucket"]("call", { method: "delete", keys: [key], onlyIf });
      } catch (error) {
        // 10031: the entry was put again. After another failure the next get or list removes the object.
        if (codeOf(error) !== 10031) console.warn(`Cannot remove the expired "${key}":`, error);
      }
    });
  }
}

function keyOf(pathname: string, query: URLSearchParams): string {
  const name = pathname.slice(1);
  if (query.get("urlencoded") !== "true") return name;
  try {
    return decodeURIComponent(name);
  } catch {
    throw new NamespaceError(400, "Could not URL-decode key name");
  }
}

function parseValue(text: string, type: "text" | "json"): unknown {
  if (type === "text") return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new NamespaceError(
      400,
      `At least one of the requested keys corresponds to a non-${type} value`,
    );
  }
}

/** The content of an object without the start that is not part of the value. */
function valueOf({ object: { body }, entry }: Found): ReadableStream {
  let left = contentStart(entry).length;
  if (left === 0) return body;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const skipped = Math.min(left, chunk.length);
        left -= skipped;
        if (skipped < chunk.length) controller.enqueue(chunk.subarray(skipped));
      },
    }),
  );
}

/**
 * Copies a value to the bucket. The binding writes the whole value before it reads the answer, so the value is
 * read to its end, also when nothing takes it.
 *
 * @returns why the value is refused
 */
async function copy(
  start: Uint8Array,
  body: ReadableStream<Uint8Array> | null,
  writer: WritableStreamDefaultWriter<Uint8Array>,
): Promise<NamespaceError | null> {
  let bytes = 0;
  let isOpen = true;
  const write = async (chunk: Uint8Array): Promise<void> => {
    if (!isOpen || chunk.length === 0 || bytes > valueBytesMax) return;
    await writer.write(chunk).catch(() => void (isOpen = false));
  };
  try {
    await write(start);
    for await (const chunk of body ?? []) {
      bytes += chunk.length;
      await write(chunk);
    }
    validateValueLength(bytes);
    await writer.close();
    return null;
  } catch (error) {
    writer.abort(error).catch(() => {});
    return error instanceof NamespaceError ? error : null;
  }
}

/** The code at the end of the text of a bucket's error. */
function codeOf(error: unknown): number | null {
  const code = error instanceof Error ? /\((\d+)\)$/.exec(error.message)?.[1] : undefined;
  return code === undefined ? null : Number(code);
}

function failure(error: unknown): Response {
  const status = error instanceof NamespaceError ? error.status : 500;
  const message = error instanceof Error ? error.message : String(error);
  if (status === 500) console.error("A call of a KV namespace failed:", error);
  // A reason phrase has one line of ASCII (RFC 9112 section 4).
  const statusText = message.replaceAll(/\s+/g, " ").replaceAll(/[^\x20-\x7e]/g, "?");
  return new Response(message, { status, statusText });
}
