/**
 * The server streams: the memory of its process, and of its runtime, stays bounded while content
 * goes up and down, also when the other end is slow. The server is a process of its own, because the
 * test's process holds what the test sends.
 */
import { connect } from "node:net";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { residentBytesByProcess } from "../../bench/process-tree.ts";
import { ledge, DevProcess } from "../support/dev-process.ts";
import { StoreProject } from "../support/store-command.ts";
import type { S3TestClient, Sent } from "./support/s3-client.ts";
import { s3ClientOf } from "./support/served-s3.ts";

const mebibyte = 1024 * 1024;
const size = 128 * mebibyte;
const partBytes = 64 * mebibyte;
const growthMax = 64 * mebibyte;
const piece = Buffer.alloc(mebibyte, "piece");
/** Slow clients at the same time. What they send together is more than a process may grow by. */
const slowCount = 8;
const slowBytes = 10 * mebibyte;

it.runIf(process.platform === "linux")(
  "content of 128 MiB goes up and down while no process of the server grows by 64 MiB",
  { timeout: 180_000 },
  async () => {
    const project = new StoreProject();
    const server = new DevProcess(process.execPath, [ledge, "s3", "--port", "0"], project.folder);
    const client = await s3ClientOf(server);
    const put = (target: string, bytes: number): Promise<string> =>
      putStream(client, target, bytes);

    // A small first run: the initial growth of a process does not count.
    await put("/photos/small", 16 * mebibyte);
    expect(await readCount(client, "/photos/small")).toBe(16 * mebibyte);
    const before = residentBytesByProcess(server.pid);
    expect(before.size).toBeGreaterThan(1);
    let growth = 0;
    let samples = 0;
    const timer = setInterval(() => {
      samples++;
      for (const [id, bytes] of residentBytesByProcess(server.pid)) {
        growth = Math.max(growth, bytes - (before.get(id) ?? 0));
      }
    }, 10);
    onTestFinished(() => clearInterval(timer));

    await put("/photos/large", size);
    expect(growth).toBeLessThan(growthMax);

    const made = await client.send({ method: "POST", target: "/photos/parts?uploads" });
    const uploadId = /<UploadId>(.*?)</.exec(made.text)?.[1] as string;
    let body = "";
    for (let part = 1; part <= size / partBytes; part++) {
      const target = `/photos/parts?partNumber=${part}&uploadId=${uploadId}`;
      const etag = await put(target, partBytes);
      body += `<Part><PartNumber>${part}</PartNumber><ETag>${etag}</ETag></Part>`;
    }
    const completed = await client.send({
      method: "POST",
      target: `/photos/parts?uploadId=${uploadId}`,
      body: `<CompleteMultipartUpload>${body}</CompleteMultipartUpload>`,
    });
    expect(completed.status).toBe(200);
    expect(growth).toBeLessThan(growthMax);

    expect(await readCount(client, "/photos/parts")).toBe(size);
    expect(growth).toBeLessThan(growthMax);

    // Clients that ask for content and do not read on. The server fills the buffers of the system.
    const readers = Array.from({ length: slowCount }, () => {
      const { headers } = client.sign({ target: "/photos/large" });
      const socket = connect(client.port, "127.0.0.1");
      onTestFinished(() => void socket.destroy());
      socket.write(`GET /photos/large HTTP/1.1\r\n${lines(headers)}\r\n`);
      return socket;
    });
    for (const socket of readers) {
      await once(socket, "data");
      socket.pause();
    }
    const seen = samples;
    await vi.waitUntil(() => samples > seen + 30, { timeout: 60_000, interval: 10 });
    expect(growth).toBeLessThan(growthMax);
    for (const socket of readers) socket.destroy();

    // Clients that have sent most of their content, and send the rest late.
    const storedBefore = storedBytes(project);
    const writers = await Promise.all(
      Array.from({ length: slowCount }, (_, index) => sendMost(client, `/photos/slow-${index}`)),
    );
    // The content is on the disk, but for the buffers of the server.
    const most = slowCount * (slowBytes - mebibyte);
    await vi.waitUntil(() => storedBytes(project) - storedBefore > most, { timeout: 60_000 });
    expect(growth).toBeLessThan(growthMax);
    for (const finish of writers) expect(await finish()).toBe(200);
    expect(growth).toBeLessThan(growthMax);
    expect(await server.end("SIGINT")).toBe(130);
  },
);

/** @returns the entity tag */
async function putStream(client: S3TestClient, target: string, bytes: number): Promise<string> {
  const sent: Sent = { method: "PUT", target, payload: "UNSIGNED-PAYLOAD" };
  const outgoing = request({
    host: "127.0.0.1",
    port: client.port,
    method: "PUT",
    path: target,
    headers: { ...client.sign(sent).headers, "content-length": String(bytes) },
  });
  const answered = once(outgoing, "response");
  for (let written = 0; written < bytes; written += piece.length) {
    if (!outgoing.write(piece)) await once(outgoing, "drain");
  }
  outgoing.end();
  const [response] = (await answered) as [IncomingMessage];
  response.resume();
  expect(response.statusCode).toBe(200);
  return response.headers.etag as string;
}

/**
 * Sends content but for its last byte.
 *
 * @returns a function that sends the byte, and returns the status of the response
 */
async function sendMost(client: S3TestClient, target: string): Promise<() => Promise<number>> {
  const { headers } = client.sign({ method: "PUT", target, payload: "UNSIGNED-PAYLOAD" });
  const outgoing = request({
    host: "127.0.0.1",
    port: client.port,
    method: "PUT",
    path: target,
    headers: { ...headers, "content-length": String(slowBytes) },
  });
  onTestFinished(() => void outgoing.destroy());
  outgoing.on("error", () => {});
  const answered = once(outgoing, "response");
  for (let written = 0; written < slowBytes; written += piece.length) {
    const isLast = written + piece.length === slowBytes;
    const bytes = isLast ? piece.subarray(1) : piece;
    if (!outgoing.write(bytes)) await once(outgoing, "drain");
  }
  return async () => {
    outgoing.end(piece.subarray(0, 1));
    const [response] = (await answered) as [IncomingMessage];
    response.resume();
    return response.statusCode as number;
  };
}

/** The size of the files of the bucket, also of those that are being written. */
function storedBytes({ persistPath }: StoreProject): number {
  const folder = join(persistPath, "store/blobs/photos");
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

async function readCount(client: S3TestClient, target: string): Promise<number> {
  const { headers } = client.sign({ target });
  const outgoing = request({ host: "127.0.0.1", port: client.port, path: target, headers });
  outgoing.end();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  let count = 0;
  for await (const chunk of response) count += (chunk as Uint8Array).length;
  return count;
}

function lines(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
}
