/** What a script writes and throws, on the terminal of `ledge dev`, with positions in the sources. */
import { expect, it } from "vitest";
import { createProject, ledgeDev } from "../support/dev-process.ts";

const script = `
interface Env { PHOTOS: StoreBucket }

function fail(what: string): never {
  throw new TypeError("thrown " + what);
}

export default {
  async scheduled(): Promise<void> {
    fail("by schedule");
  },
  async fetch(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
    console.log("bindings:", Object.keys(env).join());
    console.error(new Error("logged"));
    context.waitUntil(Promise.resolve().then(() => fail("after the response")));
    const { pathname } = new URL(request.url);
    if (pathname === "/throw") fail("before the response");
    if (pathname === "/read") await env.PHOTOS.get("");
    if (pathname === "/write") await env.PHOTOS.put("k".repeat(1025), "");
    if (pathname === "/wrong") await env.PHOTOS.put("key", {});
    return new Response("fine");
  },
};`;

it("prints output and exceptions of the script, also those after the response", async () => {
  const folder = createProject({
    "wrangler.jsonc": {
      name: "script",
      main: "index.ts",
      compatibility_date: "2026-08-01",
      store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
    },
    "index.ts": script,
  });
  const dev = ledgeDev(folder, "--no-dns");
  const url = await dev.url();
  expect(await (await fetch(url)).text()).toBe("fine");
  // The script does not see how its exceptions are observed.
  await dev.waitForOutput(/^bindings: PHOTOS$/m);
  await dev.waitForOutput(/^Error: logged\n +at .*index\.ts:14:\d+/m);
  await dev.waitForOutput(
    /Uncaught TypeError: thrown after the response\n +at fail .*index\.ts:5:\d+/,
  );
  await fetch(`${url}/throw`);
  await dev.waitForOutput(/TypeError: thrown before the response\n +at fail .*index\.ts:5:\d+/);
  await fetch(`${url}/cdn-cgi/handler/scheduled`);
  await dev.waitForOutput(/Uncaught TypeError: thrown by schedule\n +at fail .*index\.ts:5:\d+/);

  // Errors of the store: first the line of the script, then the reason, and nothing of the store.
  await fetch(`${url}/read`);
  await dev.waitForOutput(
    /get: The specified object name is not valid\. \(10020\)\n +at async Object\.fetch .*index\.ts:18:\d+/,
  );
  await dev.waitForOutput(/^Caused by: Error: The key is empty\.$/m);
  await fetch(`${url}/write`);
  await dev.waitForOutput(
    /put: The specified object name is not valid\. \(10020\)\n +at async Object\.fetch .*index\.ts:19:\d+/,
  );
  await dev.waitForOutput(/^Caused by: Error: The key "k+\.\.\." has 1025 bytes in UTF-8/m);
  const page = await fetch(`${url}/wrong`, {
    headers: { accept: "text/html", "user-agent": "Mozilla" },
  });
  expect(page.status).toBe(500);
  expect(await page.text()).not.toContain("store-binding");
  await dev.waitForOutput(
    /TypeError: Failed to execute 'put'.*\n +at Object\.fetch .*index\.ts:20/,
  );
  expect(dev.output).not.toMatch(/store-binding|NOSENTRY/);
  expect(await dev.end()).toBe(0);
});
