/** The operations that are measured, each as one or more requests of the client. */
import { hash, randomFillSync } from "node:crypto";
import type { LoadBody, PayloadForm, S3LoadClient } from "./s3-load-client.ts";

export const mebibyte = 1024 * 1024;
/** The parts of a large upload: 8 MiB, as most clients send them. */
const partBytes = 8 * mebibyte;
export const listedKeys = 1000;
/** Reads use these objects in turn: enough that no server keeps the last answer. */
const readKeys = 8;
/** Operations of each kind before the first row. */
const warmUpCount = 500;

const bodies = new Map<number, LoadBody>();

/** Random bytes, created and hashed once. */
function bodyOf(size: number): LoadBody {
  let body = bodies.get(size);
  if (body === undefined) {
    const bytes = randomFillSync(new Uint8Array(size));
    body = { bytes, sha256: hash("sha256", bytes) };
    bodies.set(size, body);
  }
  return body;
}

export interface Operation {
  /** Stores what the operation reads. */
  prepare?(client: S3LoadClient): Promise<void>;
  run(client: S3LoadClient, index: number): Promise<void>;
  /** Removes what a turn of `count` operations has written. */
  clean?(client: S3LoadClient, count: number): Promise<void>;
  /** Fails if the server has not stored what it was sent. The bare server stores nothing. */
  verify?(client: S3LoadClient): Promise<void>;
}

const readKey = (size: number, index: number) => `objects/${size}/${index % readKeys}`;
const writtenKey = (index: number) => `written/${index}`;

export function put(size: number, payload: PayloadForm): Operation {
  const body = bodyOf(size);
  return {
    run: async (client, index) => {
      await client.sendAndCount({ method: "PUT", target: writtenKey(index), body, payload });
    },
    clean: removeWritten,
    verify: (client) => verifyContent(client, writtenKey(0), body),
  };
}

export function get(size: number): Operation {
  return {
    prepare: (client) => putReadObjects(client, size),
    run: async (client, index) => {
      const count = await client.sendAndCount({ method: "GET", target: readKey(size, index) });
      if (count !== size) throw new Error(`get: ${count} bytes of ${size}`);
    },
    verify: (client) => verifyContent(client, readKey(size, 0), bodyOf(size)),
  };
}

export function head(): Operation {
  return {
    prepare: (client) => putReadObjects(client, 1024),
    run: async (client, index) => {
      await client.sendAndCount({ method: "HEAD", target: readKey(1024, index) });
    },
  };
}

export function list(maxKeys: number): Operation {
  const target = `?list-type=2&max-keys=${maxKeys}&prefix=list%2F`;
  return {
    prepare: async (client) => {
      const body = bodyOf(1024);
      const keys = Array.from({ length: listedKeys }, (_, n) => `list/${n}`);
      await atOnce(16, keys.length, async (n) => {
        await client.sendAndCount({ method: "PUT", target: keys[n] as string, body });
      });
    },
    run: async (client) => {
      await client.sendAndCount({ method: "GET", target });
    },
    verify: async (client) => {
      const found =
        (await client.sendAndRead({ method: "GET", target })).toString().match(/<Key>/g) ?? [];
      if (found.length !== maxKeys) throw new Error(`list: ${found.length} keys of ${maxKeys}`);
    },
  };
}

export function multipart(size: number): Operation {
  const body = bodyOf(size);
  const parts: LoadBody[] = [];
  for (let start = 0; start < size; start += partBytes) {
    const bytes = body.bytes.subarray(start, start + partBytes);
    parts.push({ bytes, sha256: hash("sha256", bytes) });
  }
  return {
    run: async (client, index) => {
      const key = writtenKey(index);
      const made = await client.sendAndRead({ method: "POST", target: `${key}?uploads=` });
      const id = encodeURIComponent(
        /<UploadId>(.*?)<\/UploadId>/.exec(made.toString())?.[1] as string,
      );
      let text = "";
      for (const [n, part] of parts.entries()) {
        const target = `${key}?partNumber=${n + 1}&uploadId=${id}`;
        const { etag } = await client.send({ method: "PUT", target, body: part });
        text += `<Part><PartNumber>${n + 1}</PartNumber><ETag>${etag}</ETag></Part>`;
      }
      const bytes = Buffer.from(`<CompleteMultipartUpload>${text}</CompleteMultipartUpload>`);
      const completed = { bytes, sha256: "" };
      await client.sendAndRead({
        method: "POST",
        target: `${key}?uploadId=${id}`,
        body: completed,
      });
    },
    clean: removeWritten,
    verify: (client) => verifyContent(client, writtenKey(0), body),
  };
}

/** Writes and reads until a server has compiled its code: the first row would pay for all others. */
export async function warmUp(client: S3LoadClient): Promise<void> {
  const operations = [put(1024, "signed"), head(), get(1024)];
  for (const operation of operations) {
    await operation.prepare?.(client);
    for (let index = 0; index < warmUpCount; index++) await operation.run(client, index % readKeys);
    await operation.clean?.(client, readKeys);
  }
}

/** Runs `count` operations, `width` of them at once. */
export async function atOnce(
  width: number,
  count: number,
  run: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, work));
}

async function putReadObjects(client: S3LoadClient, size: number): Promise<void> {
  const body = bodyOf(size);
  for (let index = 0; index < readKeys; index++) {
    await client.sendAndCount({ method: "PUT", target: readKey(size, index), body });
  }
}

function removeWritten(client: S3LoadClient, count: number): Promise<void> {
  return atOnce(client.deletesAtOnce, count, async (index) => {
    await client.sendAndCount({ method: "DELETE", target: writtenKey(index) });
  });
}

async function verifyContent(client: S3LoadClient, key: string, body: LoadBody): Promise<void> {
  const stored = await client.sendAndRead({ method: "GET", target: key });
  if (hash("sha256", stored) !== body.sha256) {
    throw new Error(`The server has not stored what it was sent: ${key}`);
  }
}
