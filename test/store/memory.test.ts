/** The runtime streams large values: its memory stays bounded. */
import { describe, expect, it } from "vitest";
import { propertyRuns } from "../support/property-runs.ts";
import { findRuntimeProcess, residentBytes } from "../support/processes.ts";
import { startStore, temporaryFolder } from "../support/store.ts";
import { worker } from "../support/worker.ts";

const mebibyte = 1024 * 1024;
/** Four times the growth that is allowed; all of 1 GiB when LEDGE_ROUNDS is set, as in `npm run test:long -- numbers`. */
const size = propertyRuns({ few: 256, all: 1024 }) * mebibyte;
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

describe.runIf(process.platform === "linux")(`a value of ${size / mebibyte} MiB`, () => {
  it(
    "is stored and read while the runtime grows by less than 64 MiB",
    { timeout: 180_000 },
    async () => {
      const folder = temporaryFolder();
      const { miniflare } = await startStore(folder, [worker(script)]);
      const ask = async (path: string, bytes: number) =>
        (await miniflare.dispatchFetch(`http://script${path}?size=${bytes}`)).json();
      // A small first run: the initial growth of a runtime does not count.
      await ask("/put", mebibyte);
      await ask("/get", mebibyte);
      const processId = findRuntimeProcess(folder);
      const before = residentBytes(processId);
      let peak = 0;
      const timer = setInterval(() => (peak = Math.max(peak, residentBytes(processId))), 10);

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
