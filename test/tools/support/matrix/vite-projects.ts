/** Projects of Vite with the plugin `ledge/vite`: examples/vite, and a project of a framework. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort, type Program } from "./program.ts";

interface ViteProject {
  readonly files: Readonly<Record<string, string>>;
  /** The programs in `node_modules`, with their arguments. */
  readonly dev: readonly [path: string, ...args: string[]];
  readonly build: readonly [path: string, ...args: string[]];
  /** Saves a note, and returns a page that names all notes. */
  readonly saveNote: (url: string, name: string) => Promise<string>;
}

/** Starts a program of `node_modules` in the folder of the project. */
type Start = (path: string, ...args: string[]) => Program;

const vite = "vite/bin/vite.js";
const example = fileURLToPath(new URL("../../../../examples/vite", import.meta.url));
const exampleFiles = [
  "wrangler.jsonc",
  "index.html",
  "src/page.ts",
  "worker/index.ts",
  "vitest.config.ts",
  "test/notes.test.ts",
];
/** Other processes may have the ports of the defaults. */
const freePorts = "inspectorPort: false, explorerPort: 0, s3Port: 0";

export const exampleProject: ViteProject = {
  files: {
    ...Object.fromEntries(
      exampleFiles.map((name) => [name, readFileSync(join(example, name), "utf8")]),
    ),
    "vite.config.ts": `
      import { ledge } from "ledge/vite";
      export default { plugins: [ledge({ ${freePorts} })] };`,
  },
  dev: [vite],
  build: [vite, "build"],
  saveNote: async (url, name) => {
    await fetch(`${url}/notes/${name}`, { method: "PUT", body: "a note" });
    return (await fetch(`${url}/notes/`)).text();
  },
};

const reactRouter = "@react-router/dev/bin.cjs";

export const reactRouterProject: ViteProject = {
  files: {
    "package.json": JSON.stringify({
      name: "react-router",
      private: true,
      type: "module",
      dependencies: {
        "@react-router/dev": "8.4.0",
        isbot: "^5.0.0",
        react: "^19.0.0",
        "react-dom": "^19.0.0",
        "react-router": "8.4.0",
      },
    }),
    "wrangler.jsonc": JSON.stringify({
      name: "notes",
      main: "workers/app.ts",
      compatibility_date: "2026-08-01",
      compatibility_flags: ["nodejs_compat"],
      store_buckets: [{ binding: "NOTES", bucket_name: "notes" }],
      r2_buckets: [{ binding: "NOTES", bucket_name: "notes" }],
    }),
    "vite.config.ts": `
      import { reactRouter } from "@react-router/dev/vite";
      import { ledge } from "ledge/vite";
      const options = { viteEnvironment: { name: "ssr" }, ${freePorts} };
      export default { plugins: [ledge(options), reactRouter()] };`,
    "react-router.config.ts": "export default { ssr: true };",
    "workers/app.ts": `
      import { createRequestHandler } from "react-router";
      const build = () => import("virtual:react-router/server-build");
      const handle = createRequestHandler(build, import.meta.env.MODE);
      export default { fetch: (request) => handle(request) };`,
    "app/root.tsx": `
      import { Outlet, Scripts } from "react-router";
      export default function Root() {
        return <html lang="en"><body><Outlet /><Scripts /></body></html>;
      }`,
    "app/routes.ts": `
      import { index } from "@react-router/dev/routes";
      export default [index("routes/notes.tsx")];`,
    "app/routes/notes.tsx": `
      import { env } from "cloudflare:workers";
      export async function loader() {
        return (await env.NOTES.list()).objects.map(({ key }) => key);
      }
      export async function action({ request }) {
        const name = (await request.formData()).get("name");
        await env.NOTES.put(name, "a note");
        return null;
      }
      export default function Notes({ loaderData }) {
        return <ul>{loaderData.map((name) => <li key={name}>{name}</li>)}</ul>;
      }`,
    "app/entry.server.tsx": `
      import { renderToReadableStream } from "react-dom/server";
      import { ServerRouter } from "react-router";
      export default async function handle(request, status, headers, routerContext) {
        const router = <ServerRouter context={routerContext} url={request.url} />;
        headers.set("content-type", "text/html");
        return new Response(await renderToReadableStream(router), { headers, status });
      }`,
    "vitest.config.ts": `
      import { ledge } from "ledge/vitest";
      export default { plugins: [ledge()] };`,
    "test/notes.test.ts": `
      import { env } from "cloudflare:workers";
      import { expect, it } from "vitest";
      import { action, loader } from "../app/routes/notes.tsx";
      it("keeps a note", async () => {
        const body = new URLSearchParams({ name: "milk" });
        await action({ request: new Request("http://notes.test/", { method: "POST", body }) });
        expect(await loader()).toEqual(["milk"]);
      });
      it("begins without notes", async () => {
        expect(await loader()).toEqual([]);
      });`,
  },
  dev: [reactRouter, "dev"],
  build: [reactRouter, "build"],
  saveNote: async (url, name) => {
    const body = new URLSearchParams({ name });
    const headers = { origin: url };
    return (await fetch(`${url}/?index`, { method: "POST", headers, body })).text();
  },
};

export async function tryDevAndTests(start: Start, { dev, saveNote }: ViteProject): Promise<void> {
  assert.match(await start("vitest/vitest.mjs", "run").end(), /2 passed/);
  await serve(start, dev, saveNote);
}

export async function tryBuildAndPreview(
  start: Start,
  { build, saveNote }: ViteProject,
): Promise<void> {
  assert.doesNotMatch(await start(...build).end(), ofLedge);
  const deployed = await start("wrangler/bin/wrangler.js", "deploy", "--dry-run").end();
  assert.match(deployed, /env\.NOTES \(notes\) +R2 Bucket/);
  await serve(start, [vite, "preview"], saveNote);
}

/** wrangler warns of keys that it does not know, and names the file. */
const ofLedge = /Unexpected fields|\.ledge-/;

async function serve(
  start: Start,
  [path, ...args]: ViteProject["dev"],
  saveNote: ViteProject["saveNote"],
): Promise<void> {
  const server = start(path, ...args, "--port", String(await freePort()));
  try {
    const url = await server.waitFor(/Local: +(http:\/\/\S+?)\/?\s/);
    await server.waitFor(/Explorer: (http:\S+)/);
    await server.waitFor(/S3 API: +(http:\S+)/);
    assert.match(await saveNote(url, "bread"), /bread/);
    // The simulator of r2_buckets would save the note, too.
    assert.match(await start("ledge/dist/cli.js", "store", "list", "notes").end(), /bread/);
    assert.doesNotMatch(server.output, ofLedge);
  } finally {
    await server.interrupt();
  }
}
