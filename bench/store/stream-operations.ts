/** Operations on streams, and multipart uploads. */
import { chunkAt, chunkBytes, chunks, makeBodies, nextSeed, sameBytes } from "./bodies.ts";
import { ensure, sample, type Operation } from "./operation.ts";
import type { Session } from "./session.ts";

const mebibyte = 1024 * 1024;
const partCount = 8;
const partBytes = 5 * mebibyte;
/** The offset of ranges in an object of 256 MiB. */
const deepOffset = 192 * mebibyte;

/** Large enough that the store takes most of the time, and not the loop that reads. */
const readBytes = 256 * 1024;
/** The size of a read in many scripts. */
const smallReadBytes = 64 * 1024;

const streamKey = (session: Session) => `${session.task.folder}/stream`;

async function putStream(session: Session): Promise<void> {
  const { task, bucket, streams } = session;
  const seed = nextSeed();
  session.etags[0] = String(seed);
  session.written.add(streamKey(session));
  const stored = await streams.put(bucket, streamKey(session), task.size, chunks(seed, task.size));
  ensure(stored.size === task.size, `a stream of ${task.size} bytes stored as ${stored.size}`);
}

async function verifyStream(session: Session, size = session.task.size): Promise<string> {
  for (const index of sample(size / chunkBytes)) {
    const range = { offset: index * chunkBytes, length: chunkBytes };
    const object = await session.bucket.get(streamKey(session), { range });
    const bytes = new Uint8Array((await object?.arrayBuffer()) ?? []);
    ensure(sameBytes(bytes, chunkAt(Number(session.etags[0]), index)), "a stream with other bytes");
  }
  return "";
}

export const multipart: Operation = {
  async prepare(session) {
    makeBodies(session, partCount);
    session.keys = [`${session.task.folder}/parts`];
    session.written.add(session.keys[0] as string);
  },
  async once({ bucket, streams, keys, bodies }) {
    const key = keys[0] as string;
    const upload = await bucket.createMultipartUpload(key);
    const parts = [];
    for (const [index, body] of bodies.entries())
      parts.push(await upload.uploadPart(index + 1, body));
    await upload.complete(parts);
    const object = await bucket.get(key);
    ensure(object !== null, "no object after an upload");
    ensure(
      (await streams.drain(object, readBytes)) === partCount * partBytes,
      "an upload of another size",
    );
  },
  async verify({ bucket, keys, bodies }) {
    for (const [index, body] of bodies.entries()) {
      const range = { offset: index * partBytes, length: partBytes };
      const object = await bucket.get(keys[0] as string, { range });
      const bytes = new Uint8Array((await object?.arrayBuffer()) ?? []);
      ensure(sameBytes(bytes, body), `other bytes than it put in part ${index + 1}`);
    }
    return "";
  },
};

export const streamPut: Operation = {
  prepare: async () => {},
  once: putStream,
  verify: (session) => verifyStream(session),
};

function streamReadOf(bytesPerRead: number): Operation {
  return {
    prepare: async (session) => (session.etags.length === 0 ? putStream(session) : undefined),
    async once(session) {
      const object = await session.bucket.get(streamKey(session));
      ensure(object !== null, "no object after a stream");
      const size = await session.streams.drain(object, bytesPerRead);
      ensure(size === session.task.size, `a stream of ${session.task.size} bytes read as ${size}`);
    },
    verify: (session) => verifyStream(session),
  };
}

export const streamGet = streamReadOf(readBytes);
export const streamGetSmallReads = streamReadOf(smallReadBytes);

export const rangedGet: Operation = {
  prepare: streamGet.prepare,
  async once(session, index) {
    const chunk = deepOffset / chunkBytes + (index % 512);
    const range = { offset: chunk * chunkBytes, length: chunkBytes };
    const object = await session.bucket.get(streamKey(session), { range });
    const content = await object?.arrayBuffer();
    ensure(content?.byteLength === chunkBytes, "a range of another size");
    if (session.seen.size < 3) session.seen.set(chunk, content);
  },
  async verify(session) {
    for (const [chunk, content] of session.seen) {
      const same = sameBytes(new Uint8Array(content), chunkAt(Number(session.etags[0]), chunk));
      ensure(same, "other bytes in a range");
    }
    return "";
  },
};
