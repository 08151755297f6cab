/** The runtime streams large values: its memory stays bounded. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { startStore, temporaryFolder } from "../support/store.ts";
import { worker } from "../support/worker.ts";

const mebibyte = 1024 * 1024;
const size = 1024 * mebibyte;
const growthMax = 64 * mebibyte;

const script = `
  const chunk = new Uint8Array(65536).map((_, index) => index * 7);
  async function write(writable, size) {
    const writer = writable.getWriter();
    for (let sent = 0; sent < size; sent += chunk.length) await writer.write(chunk);
    await writer.close();
  }
  export default {
    async fetch(request, { BUCKET }) {
      const { pathname, searchParams } = new URL(request.url);
      const size = Number(searchParams.get("size"));
      if (pathname === "/put") {
        const { readable, writable } = new FixedLengthStream(size);
        const [object] = await Promise.all([BUCKET.put("large", readable), write(writable, size)]);
        return Response.json(object.size);
      }
      // The script reads each chunk, as a script that copies the body does.
      const { body } = await BUCKET.get("large");
      const reader = body.getReader({ mode: "byob" });
      let read = 0;
      for (let buffer = new ArrayBuffer(65536); ; ) {
        const { done, value } = await reader.read(new Uint8Array(buffer));
        if (done) return Response.json(read);
        read += value.length;
        buffer = value.buffer;
      }
    },
  };`;

/** What a runtime's process has in memory, wherever it is written down. */
function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** The runtime that this process has started, and that has files of `folder` open. */
function runtimeOf(folder: string): number {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && opens(name, folder));
  expect(pids).toHaveLength(1);
  return Number(pids[0]);
}

function opens(pid: string, folder: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) =>
      readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith(folder),
    );
  } catch {
    return false;
  }
}

describe.runIf(process.platform === "linux")("a value of 1 GiB", () => {
  it(
    "is put and got while the runtime grows by less than 64 MiB",
    { timeout: 180_000 },
    async () => {
      const folder = temporaryFolder();
      const { miniflare } = await startStore(folder, [worker(script)]);
      const ask = async (path: string, bytes: number) =>
        (await miniflare.dispatchFetch(`http://script${path}?size=${bytes}`)).json();
      // A small first run: the initial growth of a runtime does not count.
      await ask("/put", mebibyte);
      await ask("/get", mebibyte);
      const pid = runtimeOf(folder);
      const before = residentBytes(pid);
      let peak = 0;
      const timer = setInterval(() => (peak = Math.max(peak, residentBytes(pid))), 10);

      expect(await ask("/put", size)).toBe(size);
      expect(peak - before).toBeLessThan(growthMax);
      expect(await ask("/get", size)).toBe(size);
      expect(peak - before).toBeLessThan(growthMax);
      // The timer has sampled the process.
      expect(peak).toBeGreaterThan(before / 2);
      clearInterval(timer);
    },
  );
});
