/** Operations on values that fit into memory, and listings. */
import { makeBodies, makeBody, nextSeed, renew, sameBytes } from "./bodies.ts";
import { ensure, sample, type Operation } from "./operation.ts";
import { removeWritten, type Session } from "./session.ts";

const mebibyte = 1024 * 1024;
/** The most bytes that one task leaves in a bucket before it deletes its objects. */
const writtenBytesMax = 512 * mebibyte;
/** The number of objects that reads cycle through, and their bytes. */
const objectsReadMax = 64;
const objectsReadBytesMax = 16 * mebibyte;

function makeKeys(session: Session, count: number): void {
  const seed = nextSeed();
  session.keys = Array.from(
    { length: count },
    (_, index) => `${session.task.folder}/${seed}-${index}`,
  );
}

async function put(session: Session, index: number): Promise<void> {
  const key = session.keys[index] as string;
  const stored = await session.bucket.put(key, session.bodies[index] as Uint8Array);
  ensure(stored !== null, "a put that stored nothing");
  session.written.add(key);
  session.etags[index] = stored.etag;
}

/** Stores `count` objects, at most 32 objects and 32 MiB at a time. */
async function putAll(session: Session, count: number): Promise<void> {
  const turn = Math.max(1, Math.min(32, Math.floor((32 * mebibyte) / (session.task.size || 1))));
  for (let start = 0; start < count; start += turn) {
    const length = Math.min(turn, count - start);
    await Promise.all(Array.from({ length }, (_, index) => put(session, start + index)));
  }
}

/** Stores the objects for reads and for conditional puts, once for each session. */
async function putOnce(session: Session): Promise<void> {
  if (session.keys.length > 0) return;
  const { size, atOnce } = session.task;
  const count = Math.max(atOnce, Math.min(objectsReadMax, Math.floor(objectsReadBytesMax / size)));
  makeBodies(session, count);
  makeKeys(session, count);
  await putAll(session, count);
}

async function requireStored(session: Session, keys: string[], bodies: Uint8Array[]) {
  for (const index of sample(keys.length)) {
    const object = await session.bucket.get(keys[index] as string);
    const bytes = new Uint8Array((await object?.arrayBuffer()) ?? []);
    ensure(
      sameBytes(bytes, bodies[index] as Uint8Array),
      `other bytes than it put in ${session.task.folder}`,
    );
  }
  return "";
}

/** The index of the body that each key got from the last conditional put. */
const lastBodies = new WeakMap<Session, Map<number, number>>();

export const write: Operation = {
  async prepare(session, count) {
    const { written, task } = session;
    if (written.size * task.size > writtenBytesMax) await removeWritten(session);
    makeBodies(session, count);
    makeKeys(session, count);
  },
  once: put,
  verify: (session) => requireStored(session, session.keys, session.bodies),
};

export const read: Operation = {
  prepare: putOnce,
  async once(session, index) {
    const turn = index % session.keys.length;
    const object = await session.bucket.get(session.keys[turn] as string);
    const content = await object?.arrayBuffer();
    ensure(content?.byteLength === session.task.size, "an object of another size");
    if (turn < 3) session.seen.set(turn, content);
  },
  async verify(session) {
    ensure(session.seen.size > 0, "nothing that was read");
    for (const [turn, content] of session.seen) {
      const same = sameBytes(new Uint8Array(content), session.bodies[turn] as Uint8Array);
      ensure(same, `other bytes than it put in ${session.task.folder}`);
    }
    return requireStored(session, session.keys, session.bodies);
  },
};

export const head: Operation = {
  prepare: putOnce,
  async once({ bucket, keys, etags }, index) {
    const turn = index % keys.length;
    const object = await bucket.head(keys[turn] as string);
    ensure(object?.etag === etags[turn], "an object with another etag");
  },
  verify: (session) => requireStored(session, session.keys, session.bodies),
};

export const putIfMatching: Operation = {
  async prepare(session, count) {
    await putOnce(session);
    makeBodies(session, Math.max(count, session.keys.length));
    lastBodies.set(session, new Map());
  },
  async once(session, index) {
    const { bucket, keys, bodies, etags } = session;
    const turn = index % keys.length;
    const onlyIf = { etagMatches: etags[turn] as string };
    const stored = await bucket.put(keys[turn] as string, bodies[index] as Uint8Array, { onlyIf });
    ensure(stored !== null, "a condition that failed and should pass");
    etags[turn] = stored.etag;
    lastBodies.get(session)?.set(turn, index);
  },
  verify(session) {
    const last = [...(lastBodies.get(session) ?? [])];
    const keys = last.map(([turn]) => session.keys[turn] as string);
    return requireStored(
      session,
      keys,
      last.map(([, index]) => session.bodies[index] as Uint8Array),
    );
  },
};

export const putIfDiffering: Operation = {
  async prepare(session, count) {
    await putOnce(session);
    // The first bodies are those of the stored objects; the new bodies follow.
    const kept = session.bodies.slice(0, session.keys.length);
    const offered = session.bodies.slice(kept.length);
    offered.forEach(renew);
    while (offered.length < count) offered.push(makeBody(session.task.size));
    session.bodies = [...kept, ...offered];
  },
  async once({ bucket, keys, bodies, etags }, index) {
    const turn = index % keys.length;
    const onlyIf = { etagDoesNotMatch: etags[turn] as string };
    const body = bodies[keys.length + index] as Uint8Array;
    const stored = await bucket.put(keys[turn] as string, body, { onlyIf });
    ensure(stored === null, "a condition that passed and should fail");
  },
  verify: (session) => requireStored(session, session.keys, session.bodies),
};

export function deletion(keysPerCall: number): Operation {
  return {
    async prepare(session, count) {
      makeBodies(session, count * keysPerCall);
      makeKeys(session, count * keysPerCall);
      await putAll(session, count * keysPerCall);
    },
    async once({ bucket, keys }, index) {
      const start = index * keysPerCall;
      await bucket.delete(
        keysPerCall === 1 ? (keys[start] as string) : keys.slice(start, start + keysPerCall),
      );
    },
    async verify({ bucket, keys }) {
      for (const index of sample(keys.length)) {
        ensure(
          (await bucket.head(keys[index] as string)) === null,
          "an object that it had deleted",
        );
      }
      return "";
    },
  };
}

export const list: Operation = {
  prepare: async () => {},
  async once(session) {
    session.page = await session.bucket.list(session.task.list ?? {});
    const { objects, delimitedPrefixes } = session.page;
    ensure(objects.length + delimitedPrefixes.length >= 100, "a page that is not full");
  },
  async verify({ page }) {
    const keys = page?.objects.map(({ key }) => key) ?? [];
    // Prefixes of Ledge end before the delimiter by default, and R2's end with it.
    const prefixes = page?.delimitedPrefixes.map((prefix) => prefix.replace(/\/$/, "")) ?? [];
    return [...keys, ...prefixes].join();
  },
};
