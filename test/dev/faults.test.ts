/** Faults that a dev server is started with, without an explorer. */
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { startDev } from "../../dist/index.js";
import { createProject, waitOptions } from "../support/dev-process.ts";

/** Puts the body into the bucket that the path names first, and answers with the error of a put. */
const script = `
  export default {
    async fetch(request, env) {
      const [, binding, ...key] = new URL(request.url).pathname.split("/");
      try {
        await env[binding].put(key.join("/"), request.body);
        return new Response("stored");
      } catch (error) {
        return new Response(error.message);
      }
    },
  };`;

const configuration = {
  name: "faults",
  main: "index.js",
  compatibility_date: "2026-08-01",
  store_buckets: [
    { binding: "PHOTOS", bucket_name: "photos" },
    { binding: "BACKUP", bucket_name: "backup" },
  ],
};

function start(...faults: string[]): ReturnType<typeof startDev> {
  const folder = createProject({ "wrangler.json": configuration, "index.js": script });
  return startDev({
    configPath: join(folder, "wrangler.json"),
    faults,
    port: 0,
    dns: false,
    s3: false,
    explorer: false,
    log: () => {},
    logLevel: "none",
  });
}

it("startDev() holds faults from the first request on, without an explorer", async () => {
  const dev = await start("put:photos/*:10001", "put:backup/slow/*:slow=1ms");
  onTestFinished(() => dev.stop());
  await dev.ready;
  const put = async (path: string): Promise<string> =>
    (await fetch(`${dev.url}/${path}`, { method: "PUT", body: "content" })).text();
  expect(await put("PHOTOS/cat.jpg")).toContain("(10001)");
  expect(await put("BACKUP/cat.jpg")).toBe("stored");
  expect(await dev.summary()).toMatch(
    /^Faults     put:photos\/\*:10001\n {11}put:backup\/slow\/\*:slow=1ms$/m,
  );
  await dev.restart();
  // The new runtime does not listen yet; as soon as the script answers, its faults are in force.
  const answer = await vi.waitFor(() => put("PHOTOS/cat.jpg"), waitOptions);
  expect(answer).toContain("(10001)");
});

it("startDev() refuses a fault of a bucket that is not in the configuration", async () => {
  await expect(start("put:photo/*:10001")).rejects.toThrow(/"photo".*photos/s);
  await expect(start("put:pictures:10001")).rejects.toThrow(/"pictures".*photos, backup/s);
});
