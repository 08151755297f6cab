/** `ledge explore`: the explorer of a project without a dev server. */
import { expect, test } from "vitest";
import { openExplorerLink } from "../support/explorer-access.ts";
import { createProject, DevProcess, DevServer, ledge } from "../support/dev-process.ts";

const script = `export default { fetch: () => new Response("script") };`;

function project(): string {
  return createProject({
    "wrangler.json": {
      name: "explored",
      main: "index.js",
      compatibility_date: "2026-08-01",
      store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
      dns: { zones: [{ name: "example.com" }], port: 0, api_port: 0 },
    },
    "index.js": script,
  });
}

/** The explorer of a process, with access. */
async function openExplorer(process: DevProcess | DevServer) {
  const [, link] = await process.waitForOutput(/^Explorer +(http:\/\/localhost:\d+\/\?token=\S+)/m);
  const { address, cookie } = await openExplorerLink(link as string);
  return {
    get: async (path: string) => (await fetch(`${address}${path}`, { headers: { cookie } })).json(),
    put: (path: string, body: string) =>
      fetch(`${address}${path}`, { method: "PUT", headers: { cookie }, body }),
  };
}

function ledgeExplore(folder: string): DevProcess {
  const args = [ledge, "explore", "--no-open", "--port", "0"];
  return new DevProcess(process.execPath, args, folder);
}

test("ledge explore serves buckets and zones, and leaves no process", async () => {
  const explore = ledgeExplore(project());
  const explorer = await openExplorer(explore);
  expect(await explorer.get("/api/project")).toMatchObject({ hasRequests: false, scriptUrl: null });
  expect(await explorer.get("/api/buckets")).toMatchObject([
    { name: "photos", bindings: ["PHOTOS"], isDeletable: false },
  ]);
  // DNS starts when the page asks for zones.
  expect(await explorer.get("/api/dns/zones")).toMatchObject({ result: [{ name: "example.com" }] });
  expect(await explore.end("SIGTERM")).toBe(0);
  await explore.processesEnd();
});

test("ledge explore and ledge dev share the state, with one token", async () => {
  const folder = project();
  const explore = ledgeExplore(folder);
  const alone = await openExplorer(explore);
  await alone.put("/api/buckets/photos/content?key=a", "from the explorer");
  const dev = await DevServer.start(folder);
  const beside = await openExplorer(dev);
  const list = "/api/buckets/photos/objects";
  expect(await beside.get(list)).toMatchObject({ objects: [{ key: "a" }] });
  await beside.put("/api/buckets/photos/content?key=b", "from the dev server");
  expect(await alone.get(list)).toMatchObject({ objects: [{ key: "a" }, { key: "b" }] });
  const tokens = [explore, dev].map(({ output }) => /token=(\w+)/.exec(output)?.[1]);
  expect(tokens[0]).toBe(tokens[1]);
});
