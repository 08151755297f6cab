/**
 * The expiry of keys in KV and of entries in caches, by the clock of a test.
 *
 * The runtime expires both by the real time, and knows nothing of the test's clock. So the methods of both are
 * replaced, below those that record calls (`watch-bindings.ts`). A method that reads hides what has expired by
 * the moved time; a method that writes keeps the moved time of the expiry beside the value, where isolation
 * undoes it with the value: KV in the metadata of the key, a cache in a header of the response. While the clock
 * is not moved, no call costs more than before.
 */
import type { MovedDate, PoolSession } from "./pool-session.ts";

type Clock = Pick<MovedDate, "now" | "offsetMilliseconds">;

const isMoved = (clock: Clock): boolean => clock.offsetMilliseconds !== 0;

/** Metadata of KV, and the header of a cached response. Neither leaves this file. */
const mark = "ledge-moved-time";

export function moveTimeOfBindings(
  env: Readonly<Record<string, unknown>>,
  { kinds, date }: Pick<PoolSession, "kinds" | "date">,
): void {
  const [namespace] = [...kinds].find(([, kind]) => kind === "kv") ?? [];
  if (namespace !== undefined) {
    moveTimeOfKv(Object.getPrototypeOf(env[namespace]) as KvMethods, date);
  }
  const { caches } = globalThis as { caches?: { readonly default?: object } };
  if (caches?.default !== undefined) {
    moveTimeOfCaches(Object.getPrototypeOf(caches.default) as CacheMethods, date);
  }
}

interface MarkedMetadata {
  /** The expiration, in seconds */
  readonly [mark]: number;
  readonly metadata?: unknown;
}

interface ListedKey {
  readonly name: string;
  readonly expiration?: number;
  readonly metadata?: unknown;
}

interface PutOptions {
  readonly expiration?: number;
  readonly expirationTtl?: number;
  readonly metadata?: unknown;
}

interface ValueWithMetadata {
  readonly value: unknown;
  readonly metadata: unknown;
}

type Get = (this: object, keys: string | string[], options?: unknown) => Promise<unknown>;

interface KvMethods {
  put: (this: object, key: string, value: unknown, options?: PutOptions) => Promise<void>;
  get: Get;
  getWithMetadata: Get;
  list: (this: object, options?: object) => Promise<{ readonly keys: readonly ListedKey[] }>;
}

interface CacheMethods {
  put: (this: object, request: unknown, response: Response) => Promise<void>;
  match: (this: object, request: unknown, options?: object) => Promise<Response | undefined>;
  delete: (this: object, request: unknown, options?: object) => Promise<boolean>;
}

/** KV refuses shorter times to live. */
const kvTtlSecondsMin = 60;

function moveTimeOfKv(methods: KvMethods, clock: Clock): void {
  const { put, get, getWithMetadata, list } = methods;
  const nowSeconds = () => Math.floor(clock.now() / 1000);
  const isExpired = (key: ListedKey | undefined) =>
    isMoved(clock) && (key?.expiration ?? Infinity) <= nowSeconds();

  /** The keys that have expired; `get` does not tell the expiration of a key, `list` does. */
  async function expiredKeys(kv: object, keys: readonly string[]): Promise<Set<string>> {
    const expired = keys.map(async (prefix) => {
      const [first] = (await list.call(kv, { prefix, limit: 1 })).keys.map(unmarkKey);
      return first?.name === prefix && isExpired(first) ? [prefix] : [];
    });
    return new Set((await Promise.all(expired)).flat());
  }

  methods.put = async function (key, value, options) {
    if (!isMoved(clock)) return put.call(this, key, value, options);
    const moved = markOptions(options, nowSeconds());
    return put.call(this, key, value, moved);
  };

  const replaceGet = (original: Get, absent: null | ValueWithMetadata): Get =>
    async function (keys, options) {
      const reading = original.call(this, keys, options);
      const unmark = (found: unknown): unknown =>
        absent === null ? found : unmarkValue(found as ValueWithMetadata);
      if (!isMoved(clock)) return absent === null ? reading : mapFound(await reading, unmark);
      const [found, expired] = await Promise.all([reading, expiredKeys(this, [keys].flat())]);
      return mapFound(found, (each, key = keys as string) => {
        if (!expired.has(key)) return unmark(each);
        const { value } = absent === null ? { value: each } : (each as ValueWithMetadata);
        if (value instanceof ReadableStream) void value.cancel();
        return absent === null ? null : { ...(each as ValueWithMetadata), ...absent };
      });
    };
  methods.get = replaceGet(get, null);
  methods.getWithMetadata = replaceGet(getWithMetadata, { value: null, metadata: null });

  methods.list = async function (options) {
    const found = await list.call(this, options);
    return {
      ...found,
      keys: found.keys.map(unmarkKey).filter((key) => !isExpired(key)),
    };
  };
}

/** A result of `get`: the value of one key, or a map with the values of several. */
function mapFound(found: unknown, change: (value: unknown, key?: string) => unknown): unknown {
  if (!(found instanceof Map)) return change(found);
  return new Map(
    [...(found as Map<string, unknown>)].map(([key, value]) => [key, change(value, key)]),
  );
}

/**
 * The options of a `put` with a mark in place of the expiry: the runtime accepts no time before the real one.
 *
 * @throws Error with the text of KV for a time that is not far enough in the future
 */
export function markOptions(
  options: PutOptions | undefined,
  nowSeconds: number,
): PutOptions | undefined {
  const { expiration, expirationTtl, ...rest } = options ?? {};
  if (expirationTtl != null) {
    // KV says what is wrong with other values.
    if (!(expirationTtl >= kvTtlSecondsMin)) return options;
    return {
      ...rest,
      metadata: markMetadata(nowSeconds + Math.trunc(expirationTtl), rest.metadata),
    };
  }
  if (expiration == null) return options;
  const wrong =
    expiration <= nowSeconds
      ? "Please specify integer greater than the current number of seconds since the UNIX epoch."
      : expiration < nowSeconds + kvTtlSecondsMin
        ? `Expiration times must be at least ${kvTtlSecondsMin} seconds in the future.`
        : null;
  if (wrong !== null)
    throw new Error(`KV PUT failed: 400 Invalid expiration of ${expiration}. ${wrong}`);
  return { ...rest, metadata: markMetadata(Math.trunc(expiration), rest.metadata) };
}

function markMetadata(expiration: number, metadata: unknown): MarkedMetadata {
  return { [mark]: expiration, metadata };
}

function isMarked(metadata: unknown): metadata is MarkedMetadata {
  return typeof metadata === "object" && metadata !== null && mark in metadata;
}

function unmarkValue(found: ValueWithMetadata): ValueWithMetadata {
  if (!isMarked(found.metadata)) return found;
  return { ...found, metadata: found.metadata.metadata ?? null };
}

export function unmarkKey(key: ListedKey): ListedKey {
  if (!isMarked(key.metadata)) return key;
  const { [mark]: expiration, metadata } = key.metadata;
  return { name: key.name, expiration, ...(metadata !== undefined && { metadata }) };
}

function moveTimeOfCaches(prototype: CacheMethods, clock: Clock): void {
  const { put, match, delete: remove } = prototype;

  prototype.put = async function (request, response) {
    if (!isMoved(clock) || !(response instanceof Response))
      return put.call(this, request, response);
    const stored = withHeader(response, String(clock.now()));
    return put.call(this, request, stored);
  };

  const matchByClock = async function (this: object, ...args: Parameters<CacheMethods["match"]>) {
    const found = await match.apply(this, args);
    if (found === undefined) return found;
    const marked = found.headers.get(mark);
    if (isMoved(clock)) {
      const storedAt =
        marked === null ? Date.parse(found.headers.get("date") ?? "") : Number(marked);
      if (storedAt + freshMilliseconds(found.headers, storedAt) <= clock.now()) {
        await found.body?.cancel();
        return undefined;
      }
    }
    return marked === null ? found : withHeader(found, null);
  };
  prototype.match = matchByClock;

  prototype.delete = async function (request, options) {
    if (!isMoved(clock)) return remove.call(this, request, options);
    const found = await matchByClock.call(this, request, options);
    await found?.body?.cancel();
    return (await remove.call(this, request, options)) && found !== undefined;
  };
}

/** The response with the mark, or without it. The headers of a response from elsewhere cannot be changed. */
function withHeader(response: Response, value: string | null): Response {
  const change = (changed: Response): Response => {
    if (value === null) changed.headers.delete(mark);
    else changed.headers.set(mark, value);
    return changed;
  };
  try {
    return change(response);
  } catch {
    return change(new Response(response.body, response));
  }
}

/** How long a cache keeps a response, as Miniflare decides it: RFC 9111 section 4.2, and RFC 5861. */
export function freshMilliseconds(headers: Headers, storedAt: number): number {
  const control = headers.get("cache-control") ?? "";
  const seconds = (directive: string): number | undefined => {
    const [, digits] = new RegExp(`(?:^|[,\\s])${directive}="?(\\d+)`, "i").exec(control) ?? [];
    return digits === undefined ? undefined : Number(digits);
  };
  const stale = Math.max(seconds("stale-while-revalidate") ?? 0, seconds("stale-if-error") ?? 0);
  const ageSeconds = Number(headers.get("age") ?? 0) || 0;
  const lifetime = seconds("s-maxage") ?? seconds("max-age");
  if (lifetime !== undefined) return (lifetime - ageSeconds + stale) * 1000;
  const expires = Date.parse(headers.get("expires") ?? "");
  if (!Number.isNaN(expires)) return expires - storedAt + (stale - ageSeconds) * 1000;
  // A tenth of the time since the last change, if the response does not say more.
  const modified = Date.parse(headers.get("last-modified") ?? "");
  return Number.isNaN(modified) ? 0 : (storedAt - modified) / 10;
}
