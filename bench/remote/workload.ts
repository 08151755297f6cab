/**
 * The measured work. The same code runs on both sides: in workerd on a binding, and in Node on a client of the
 * AWS SDK. Each side has the operations of `Client`. This module imports nothing at run time.
 */

/** One measured operation of a side, on keys of the service. */
export interface Client {
  head(key: string): Promise<void>;
  /** Reads the whole content. @returns its size */
  get(key: string): Promise<number>;
  /** Reads the content as a stream. @returns its size */
  getStream(key: string): Promise<number>;
  /** @returns the entity tag */
  put(key: string, body: Uint8Array): Promise<string>;
  /** @returns the entity tag. Throws if the object does not have the entity tag `etag` */
  putIf(key: string, body: Uint8Array, etag: string): Promise<string>;
  putStream(key: string, size: number, chunks: Iterable<Uint8Array>): Promise<void>;
  delete(key: string): Promise<void>;
  /** @returns the number of objects on the first page */
  list(prefix: string): Promise<number>;
  /** Of a side whose lists can have metadata. */
  listWithMetadata?(prefix: string): Promise<number>;
}

export interface Message {
  readonly phase: "prepare" | "run" | "clean";
  readonly operation: keyof typeof operations;
  /** Begins each key of the row. */
  readonly prefix: string;
  /** The index of the first operation. */
  readonly from: number;
  readonly count: number;
  readonly atOnce: number;
}

interface Operation {
  /** Stores what `count` operations need. */
  prepare?(client: Client, prefix: string, count: number): Promise<void>;
  run(client: Client, prefix: string, index: number): Promise<void>;
  /** Whether an operation writes the key of its index, which is removed afterwards. */
  readonly writes?: true;
}

const kibibyte = 1024;
const streamBytes = 64 * kibibyte * kibibyte;
const chunkBytes = 256 * kibibyte;
const listedKeys = 1000;
/** Reads use these objects in turn. */
const readKeys = 64;

const small = mixedBytes(kibibyte);
const chunk = mixedBytes(chunkBytes);
/** The entity tags that conditional puts have seen, by key. */
const etags = new Map<string, string>();

const readKey = (prefix: string, index: number): string => `${prefix}read/${index % readKeys}`;
const writtenKey = (prefix: string, index: number): string => `${prefix}written/${index}`;
const listed = (prefix: string): string => `${prefix}listed/`;

const putReadKeys = (client: Client, prefix: string): Promise<void> =>
  runAtOnce(32, 0, readKeys, async (index) => {
    await client.put(readKey(prefix, index), small);
  });

const operations = {
  head: {
    prepare: putReadKeys,
    run: (client, prefix, index) => client.head(readKey(prefix, index)),
  },
  get: {
    prepare: putReadKeys,
    run: async (client, prefix, index) =>
      requireSize(await client.get(readKey(prefix, index)), small.length),
  },
  put: {
    run: async (client, prefix, index) => {
      await client.put(writtenKey(prefix, index), small);
    },
    writes: true,
  },
  putIf: {
    prepare: (client, prefix, count) =>
      runAtOnce(32, 0, count, async (index) => {
        const key = writtenKey(prefix, index);
        etags.set(key, await client.put(key, small));
      }),
    run: async (client, prefix, index) => {
      const key = writtenKey(prefix, index);
      await client.putIf(key, small, etags.get(key) as string);
    },
    writes: true,
  },
  delete: {
    prepare: (client, prefix, count) =>
      runAtOnce(32, 0, count, async (index) => {
        await client.put(writtenKey(prefix, index), small);
      }),
    run: (client, prefix, index) => client.delete(writtenKey(prefix, index)),
  },
  list: {
    prepare: putListed,
    run: async (client, prefix) => requireSize(await client.list(listed(prefix)), listedKeys),
  },
  listAndHead: {
    prepare: putListed,
    run: async (client, prefix) => {
      const count = await client.listWithMetadata?.(listed(prefix));
      if (count !== undefined) return requireSize(count, listedKeys);
      requireSize(await client.list(listed(prefix)), listedKeys);
      await runAtOnce(32, 0, listedKeys, (index) => client.head(`${listed(prefix)}${index}`));
    },
  },
  getStream: {
    prepare: (client, prefix) => putStream(client, `${prefix}stream`),
    run: async (client, prefix) =>
      requireSize(await client.getStream(`${prefix}stream`), streamBytes),
  },
  putStream: {
    run: (client, prefix, index) => putStream(client, writtenKey(prefix, index)),
    writes: true,
  },
} satisfies Record<string, Operation>;

export async function handleMessage(client: Client, message: Message): Promise<void> {
  const { phase, prefix, from, count, atOnce } = message;
  const operation: Operation = operations[message.operation];
  if (phase === "prepare") return operation.prepare?.(client, prefix, count);
  if (phase === "run") {
    return runAtOnce(atOnce, from, count, (index) => operation.run(client, prefix, index));
  }
  if (operation.writes !== true) return;
  await runAtOnce(32, from, count, (index) => client.delete(writtenKey(prefix, index)));
}

async function runAtOnce(
  width: number,
  from: number,
  count: number,
  run: (index: number) => Promise<void>,
): Promise<void> {
  let next = from;
  const work = async (): Promise<void> => {
    while (next < from + count) await run(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, work));
}

function putListed(client: Client, prefix: string): Promise<void> {
  return runAtOnce(32, 0, listedKeys, async (index) => {
    await client.put(`${listed(prefix)}${index}`, small);
  });
}

function putStream(client: Client, key: string): Promise<void> {
  return client.putStream(
    key,
    streamBytes,
    Array<Uint8Array>(streamBytes / chunkBytes).fill(chunk),
  );
}

function requireSize(found: number, wanted: number): void {
  if (found !== wanted) throw new Error(`The benchmark found ${found} instead of ${wanted}`);
}

/** The same bytes in each process: workerd has no randomness outside of a request. */
function mixedBytes(size: number): Uint8Array<ArrayBuffer> {
  let state = size;
  return Uint8Array.from({ length: size }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state;
  });
}
