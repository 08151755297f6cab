/** What a script writes and throws, on the terminal of `ledge dev`, with positions in the sources. */
import { expect, it } from "vitest";
import { createProject, ledgeDev } from "../support/dev-process.ts";

const script = `
function fail(what: string): never {
  throw new TypeError("thrown " + what);
}

export default {
  async scheduled(): Promise<void> {
    fail("by schedule");
  },
  async fetch(request: Request, env: object, context: ExecutionContext): Promise<Response> {
    console.log("bindings:", Object.keys(env).join());
    console.error(new Error("logged"));
    context.waitUntil(Promise.resolve().then(() => fail("after the response")));
    if (new URL(request.url).pathname === "/throw") fail("before the response");
    return new Response("fine");
  },
};`;

it("prints output and exceptions of the script, also those after the response", async () => {
  const folder = createProject({
    "wrangler.jsonc": { name: "script", main: "index.ts", compatibility_date: "2026-08-01" },
    "index.ts": script,
  });
  const dev = ledgeDev(folder, "--no-dns");
  const url = await dev.url();
  expect(await (await fetch(url)).text()).toBe("fine");
  // The script does not see how its exceptions are observed.
  await dev.waitForOutput(/^bindings: $/m);
  await dev.waitForOutput(/^Error: logged\n +at .*index\.ts:12:\d+/m);
  await dev.waitForOutput(
    /Uncaught TypeError: thrown after the response\n +at fail .*index\.ts:3:\d+/,
  );
  await fetch(`${url}/throw`);
  await dev.waitForOutput(/TypeError: thrown before the response\n +at fail .*index\.ts:3:\d+/);
  await fetch(`${url}/cdn-cgi/handler/scheduled`);
  await dev.waitForOutput(/Uncaught TypeError: thrown by schedule\n +at fail .*index\.ts:3:\d+/);
  expect(await dev.end()).toBe(0);
});
