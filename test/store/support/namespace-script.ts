/** A script that makes the calls of a KV namespace that a request lists, in workerd alone and in Miniflare. */

type KvValue =
  | string
  /** A number: so many zeros. */
  | { readonly bytes: readonly number[] | number }
  | { readonly streamBytes: number; readonly isUnsized?: boolean };

export type KvCall =
  | readonly ["clear"]
  | readonly ["get" | "getWithMetadata", key: string | readonly string[], options?: unknown]
  | readonly ["put", key: string, value: KvValue, options?: object]
  | readonly ["delete", key: string]
  /** The cursor "last" is that of the list before. */
  | readonly ["list", options?: { prefix?: string; limit?: number; cursor?: "last" }];

export interface KvAnswer {
  readonly value?: unknown;
  /** Name and message. */
  readonly error?: string;
}

export const namespaceScript = `
let lastCursor;

export default {
  async fetch(request, env) {
    const answers = [];
    for (const call of await request.json()) answers.push(await answerOf(call, env.KV));
    return Response.json(answers);
  },
};

async function answerOf([method, key, ...rest], kv) {
  try {
    return { value: (await shown(await result(method, key, rest, kv))) ?? null };
  } catch (error) {
    return { error: String(error) };
  }
}

async function result(method, key, [given, options], kv) {
  if (method === "clear") return clear(kv);
  if (method === "list") {
    const from = key?.cursor === "last" ? { ...key, cursor: lastCursor } : key;
    const page = await kv.list(from);
    lastCursor = page.cursor;
    return { ...page, ...(page.cursor !== undefined && { cursor: "last" }) };
  }
  if (method === "put") return kv.put(key, valueOf(given), options);
  if (given === "length") return (await kv.get(key, "arrayBuffer")).byteLength;
  return given === undefined ? kv[method](key) : kv[method](key, given);
}

async function clear(kv) {
  for (;;) {
    const { keys, list_complete } = await kv.list();
    for (const { name } of keys) await kv.delete(name);
    if (list_complete) return;
  }
}

function valueOf(value) {
  if (typeof value === "string") return value;
  if ("bytes" in value) return new Uint8Array(value.bytes);
  const { streamBytes, isUnsized } = value;
  const { readable, writable } = isUnsized
    ? new IdentityTransformStream()
    : new FixedLengthStream(streamBytes);
  write(writable.getWriter(), streamBytes).catch(() => {});
  return readable;
}

async function write(writer, bytes) {
  const chunk = new TextEncoder().encode("0123456789".repeat(6_400));
  for (let left = bytes; left > 0; left -= chunk.length) await writer.write(chunk.subarray(0, left));
  await writer.close();
}

async function shown(value) {
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof ArrayBuffer) return [...new Uint8Array(value)];
  if (value instanceof ReadableStream) return new Response(value).text();
  if (value?.value instanceof ArrayBuffer) return { ...value, value: await shown(value.value) };
  return value;
}
`;
