/**
 * The growth of each process of the server while content goes up and down: a put by a stream, an
 * upload in parts of 64 MiB, a get, and a get by a client that reads slowly. Sampled from /proc, so
 * on Linux only.
 */
import { randomFillSync } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { formatBytes } from "../../src/base/format.ts";
import { residentBytesByProcess } from "../process-tree.ts";
import { mebibyte } from "./operations.ts";
import { S3LoadClient, type LoadStream } from "./s3-load-client.ts";
import { ServerProcess, type ServerName } from "./server-process.ts";

const partBytes = 64 * mebibyte;
/** Of a first run: the initial growth of a process does not count. */
const firstBytes = 16 * mebibyte;
const growthBytesMax = 64 * mebibyte;
/** Short enough to see a peak. */
const sampleMilliseconds = 10;

/** The client reads no further. */
class StoppedError extends Error {}

type Transfer = (client: S3LoadClient, size: number) => Promise<void>;

/** A piece of this size repeats; the server sees a stream. */
const piece = randomFillSync(new Uint8Array(mebibyte));

const transfers: Record<string, Transfer> = {
  put: async (client, size) => {
    await client.sendAndCount({ method: "PUT", target: "large", body: contentOf(size) });
  },
  "upload in parts of 64 MiB": async (client, size) => {
    const made = await client.sendAndRead({ method: "POST", target: "parts?uploads=" });
    const id = encodeURIComponent(
      /<UploadId>(.*?)<\/UploadId>/.exec(made.toString())?.[1] as string,
    );
    let text = "";
    for (let n = 1; (n - 1) * partBytes < size; n++) {
      const target = `parts?partNumber=${n}&uploadId=${id}`;
      const { etag } = await client.send({ method: "PUT", target, body: contentOf(partBytes) });
      text += `<Part><PartNumber>${n}</PartNumber><ETag>${etag}</ETag></Part>`;
    }
    const bytes = Buffer.from(`<CompleteMultipartUpload>${text}</CompleteMultipartUpload>`);
    const body = { bytes, sha256: "" };
    await client.sendAndRead({ method: "POST", target: `parts?uploadId=${id}`, body });
  },
  get: async (client, size) => {
    const count = await client.sendAndCount({ method: "GET", target: "parts" });
    if (count !== size) throw new Error(`get: ${count} bytes of ${size}`);
  },
  "get, slowly read": async (client) => {
    let pieces = 0;
    await client
      .send({ method: "GET", target: "large" }, async () => {
        if (++pieces === 64) throw new StoppedError();
        await delay(20);
      })
      .catch((error: unknown) => {
        if (!(error instanceof StoppedError)) throw error;
      });
  },
};

/** Rows of a table: the largest growth of any process of each server. */
export async function measureMemory(folder: string, size: number): Promise<string[][]> {
  const names: ServerName[] = ["ours", "miniflare"];
  const growths = new Map<ServerName, (number | string)[]>();
  for (const name of names) growths.set(name, await growthOf(name, folder, size));
  return [
    [`memory, ${formatBytes(size)}`, "ours", "Miniflare", "aim of ours"],
    ...Object.keys(transfers).map((transfer, row) => {
      const ours = growths.get("ours")?.[row] as number | string;
      const isReached = typeof ours === "number" && ours < growthBytesMax;
      return [
        transfer,
        ...names.map((name) => describe(growths.get(name)?.[row] as number | string)),
        `< ${formatBytes(growthBytesMax)} ${isReached ? "✓" : "✗"}`,
      ];
    }),
  ];
}

async function growthOf(
  name: ServerName,
  folder: string,
  size: number,
): Promise<(number | string)[]> {
  const server = await ServerProcess.start(name, join(folder, `memory-${name}`));
  const client = new S3LoadClient(server.address);
  try {
    const body = contentOf(firstBytes);
    await client.sendAndCount({ method: "PUT", target: "small", body });
    await client.sendAndCount({ method: "GET", target: "small" });
    const results: (number | string)[] = [];
    for (const transfer of Object.values(transfers)) {
      results.push(
        await growthDuring(server.processId, () => transfer(client, size)).catch((error: Error) =>
          error.message.slice(0, 80),
        ),
      );
    }
    return results;
  } finally {
    client.close();
    await server.stop();
  }
}

async function growthDuring(processId: number, act: () => Promise<void>): Promise<number> {
  const before = residentBytesByProcess(processId);
  let growth = 0;
  const timer = setInterval(() => {
    for (const [id, bytes] of residentBytesByProcess(processId)) {
      growth = Math.max(growth, bytes - (before.get(id) ?? 0));
    }
  }, sampleMilliseconds);
  try {
    await act();
    return growth;
  } finally {
    clearInterval(timer);
  }
}

function contentOf(length: number): LoadStream {
  return {
    length,
    content: async function* () {
      for (let sent = 0; sent < length; sent += piece.length) yield piece;
    },
  };
}

function describe(growth: number | string): string {
  return typeof growth === "string" ? growth : formatBytes(growth);
}
