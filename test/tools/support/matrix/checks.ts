/** What the matrix runs on an installation. The keys are the rows of the table. */
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bytesOf } from "../../../support/bytes.ts";
import { openExplorerLink } from "../../../support/explorer-access.ts";
import { documentedProject } from "../documented-project.ts";
import { npmInstall } from "./installation.ts";
import { killUploads } from "./killed-uploads.ts";
import { peerChecks } from "./peers.ts";
import { eventually, freePort, Program } from "./program.ts";
import {
  exampleProject,
  reactRouterProject,
  tryBuildAndPreview,
  tryDevAndTests,
} from "./vite-projects.ts";

export interface Installation {
  readonly folder: string;
  /** The program of Node. */
  readonly node: string;
}

const requestMilliseconds = 60_000;
/** Each kill takes a start of the dev server. */
const kills = Number(process.env["LEDGE_KILLS"] ?? 2);
const freePorts = ["port", "dns-port", "dns-api-port", "s3-port", "explorer-port"].flatMap(
  (name) => [`--${name}`, "0"],
);
const readyLine = /^Ready +(\S+)$/m;
const wranglerDev = ["dev", "--port", "0", "--inspector-port", "0"];
const wranglerReadyLine = /Ready on (http:\/\/\S+)/;
const root = fileURLToPath(new URL("../../../..", import.meta.url));
const fixtures = join(root, "test/tools/fixtures");

const script = (greeting: string) => `
export default {
  async fetch(request, env) {
    const key = new URL(request.url).pathname.slice(1);
    if (request.method === "PUT") return Response.json(await env.PHOTOS.put(key, request.body));
    if (key === "") return new Response(${JSON.stringify(greeting)});
    const photo = await env.PHOTOS.get(key);
    return photo === null ? new Response("Not found", { status: 404 }) : new Response(photo.body);
  },
};
`;

const ledgeProject = {
  "wrangler.jsonc": JSON.stringify({
    name: "photos",
    main: "src/index.js",
    compatibility_date: "2026-08-01",
    store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
    dns: { binding: "DNS", zones: [{ name: "example.com" }] },
  }),
  "src/index.js": script("first"),
};

/** A script that asks the script of another dev server. */
function servicesProject(name: string, other: string | undefined): Record<string, string> {
  return {
    "wrangler.jsonc": JSON.stringify({
      name,
      main: "src/index.js",
      compatibility_date: "2026-08-01",
      services: [{ binding: "OTHER", service: other }],
    }),
    "src/index.js": `
      export default {
        fetch(request, env) {
          if (new URL(request.url).pathname === "/other") return env.OTHER.fetch("http://other/");
          return new Response("This is ${name}.");
        },
      };
    `,
  };
}

const useBucket = `
  await bucket.put("cat", "meow", { customMetadata: { by: "me" } });
  const cat = await bucket.get("cat");
  console.log(await cat.text(), cat.customMetadata.by);
  await bucket.put("tiger", new Uint8Array(300_000));
  await (await bucket.get("tiger")).body.cancel();
`;

const platformProxyProgram = (from: string) => `
  import { getPlatformProxy } from ${JSON.stringify(from)};
  const { env, dispose } = await getPlatformProxy();
  const bucket = env.PHOTOS;
  ${useBucket}
  await dispose();
`;

/** Earlier prereleases of Miniflare 5 need a type, which later ones refuse. */
const miniflareProgram = `
  import { storeBindings } from "ledge";
  import { Miniflare } from "miniflare";
  const start = (form) => new Miniflare({ workers: [{ config: {
    ...form, name: "photos", compatibilityDate: "2026-08-01",
    manifest: {
      mainModule: "index.js",
      modules: { "index.js": { type: "esm", contents: "export default {};" } },
    },
    env: storeBindings({ PHOTOS: { bucket_name: "photos" } }),
  } }] });
  let miniflare;
  try {
    miniflare = start({ type: "worker" });
  } catch {
    miniflare = start({});
  }
  const { PHOTOS: bucket } = await miniflare.getBindings();
  ${useBucket}
  await miniflare.dispose();
`;

export const checks = {
  "`wrangler dev`": async (installation: Installation) => {
    const folder = makeFolder(installation, "wrangler-dev", { ...documentedProject() });
    const server = tool(installation, folder, "wrangler/bin/wrangler.js", ...wranglerDev);
    try {
      await tryScript(await server.waitFor(wranglerReadyLine));
      assert.match(await ledge(installation, folder, "store", "list", "photos"), /cat/);
    } finally {
      await server.interrupt();
    }
  },

  "`getPlatformProxy()` of wrangler": async (installation: Installation) => {
    const folder = makeFolder(installation, "wrangler-proxy", {
      ...documentedProject(),
      "program.js": platformProxyProgram("wrangler"),
    });
    assert.match(await run(installation, folder, "program.js"), /^meow me$/m);
  },

  "`wrangler types`": async (installation: Installation) => {
    const folder = makeFolder(installation, "wrangler-types", { ...documentedProject() });
    await tool(installation, folder, "wrangler/bin/wrangler.js", "types").end();
    assert.match(readFileSync(join(folder, "worker-configuration.d.ts"), "utf8"), /PHOTOS: /);
  },

  "`wrangler deploy --dry-run`": async (installation: Installation) => {
    const folder = makeFolder(installation, "wrangler-deploy", { ...documentedProject() });
    const args = ["deploy", "--dry-run"];
    assert.match(
      await tool(installation, folder, "wrangler/bin/wrangler.js", ...args).end(),
      /PHOTOS/,
    );
  },

  "`ledge dev`": async (installation: Installation) => {
    const folder = makeFolder(installation, "ledge-dev", ledgeProject);
    const server = tool(installation, folder, "ledge/dist/cli.js", "dev", ...freePorts);
    try {
      const url = await server.waitFor(readyLine);
      assert.match(server.output, /zones +example\.com/);
      await tryScript(url);
      await tryLive(await server.waitFor(/^Explorer +(\S+)$/m), url);
      assert.doesNotMatch(server.output, /handler/);
      assert.match(await ledge(installation, folder, "store", "list", "photos"), /cat/);
      assert.equal(await (await request(url)).text(), "first");
      writeFileSync(join(folder, "src/index.js"), script("second"));
      await eventually(async () => assert.equal(await (await request(url)).text(), "second"));
    } finally {
      await server.interrupt();
    }
    // Without a dev server, the command starts a runtime itself.
    assert.match(await ledge(installation, folder, "store", "list", "photos"), /cat/);
  },

  "`ledge dev` after `kill -9`": async (installation: Installation) => {
    const folder = makeFolder(installation, "killed-uploads", ledgeProject);
    await killUploads(folder, kills, () => {
      const server = tool(installation, folder, "ledge/dist/cli.js", "dev", ...freePorts);
      return { server, url: server.waitFor(readyLine) };
    });
  },

  // vitest runs on the Node of the repository, which runs TypeScript.
  "the crash suite": async ({ folder }: Installation) => {
    const suite = ["test/faults/crash.test.ts", "-t", "ledge dev"];
    const args = [join(root, "node_modules/vitest/vitest.mjs"), "run", ...suite];
    const variables = { LEDGE_PACKAGE: join(folder, "node_modules/ledge") };
    assert.match(
      await new Program(process.execPath, args, root, variables).end(),
      /Tests +1 passed/,
    );
  },

  "`ledge dev` beside `wrangler dev`": async (installation: Installation) => {
    // The registry is at its default place, which changes between versions of wrangler.
    const registry = { XDG_CONFIG_HOME: join(installation.folder, "config") };
    const [shop, stock] = ["shop", "stock"].map((name, index) =>
      makeFolder(installation, `services-${name}`, servicesProject(name, ["stock", "shop"][index])),
    ) as [string, string];
    const start = (folder: string, path: string, ...args: string[]): Program => {
      const program = join(installation.folder, "node_modules", path);
      return new Program(installation.node, [program, ...args], folder, registry);
    };
    const ours = start(shop, "ledge/dist/cli.js", "dev", ...freePorts);
    const theirs = start(stock, "wrangler/bin/wrangler.js", ...wranglerDev);
    try {
      const urls = [await ours.waitFor(readyLine), await theirs.waitFor(wranglerReadyLine)];
      for (const [url, name] of [
        [urls[0], "stock"],
        [urls[1], "shop"],
      ]) {
        await eventually(async () => {
          assert.equal(await (await request(`${url}/other`)).text(), `This is ${name}.`);
        });
      }
      await ours.waitFor(/env\.OTHER \(stock\).*\bconnected/);
      await theirs.interrupt();
      await ours.waitFor(/stock.*(?:not connected|disconnected)/);
    } finally {
      await Promise.all([ours.interrupt(), theirs.interrupt()]);
    }
  },

  "keys that Ledge does not know": async (installation: Installation) => {
    const table = JSON.parse(ledgeProject["wrangler.jsonc"]) as object;
    const unknown = { k2: [], key_of_a_later_wrangler: { binding: "LATER" }, s3: { port: 0 } };
    const folder = makeFolder(installation, "unknown-keys", {
      ...ledgeProject,
      "wrangler.jsonc": JSON.stringify({ ...table, ...unknown, env: { staging: unknown } }),
    });
    const server = tool(installation, folder, "ledge/dist/cli.js", "dev", ...freePorts);
    try {
      await tryScript(await server.waitFor(readyLine));
      // wrangler warns of keys that it does not know, but not of the keys of Ledge.
      const [warning = ""] = /Unexpected fields[^]*?\n\n/.exec(server.output) ?? [];
      assert.doesNotMatch(warning, /"(?:s3|dns|store_buckets|remotes)"/);
      assert.match(warning, /key_of_a_later_wrangler/);
    } finally {
      await server.interrupt();
    }
    const { k2: _k2, key_of_a_later_wrangler: _later, ...ours } = unknown;
    const both = JSON.stringify({ ...table, ...ours, env: { staging: { ...table, ...ours } } });
    writeFileSync(join(folder, "wrangler.jsonc"), both);
    writeFileSync(join(folder, "program.js"), platformProxyProgram("ledge"));
    for (const environment of [[], ["--env", "staging"]]) {
      const output = await ledge(installation, folder, "types", ...environment);
      assert.doesNotMatch(output, /Unexpected fields/);
    }
    assert.doesNotMatch(await run(installation, folder, "program.js"), /Unexpected fields/);
  },

  ...peerChecks,

  "`ledge dev` with several scripts": async (installation: Installation) => {
    const other = { name: "archive", main: "archive.js", compatibility_date: "2026-08-01" };
    const folder = makeFolder(installation, "several-scripts", {
      "wrangler.jsonc": JSON.stringify({
        ...other,
        name: "front",
        main: "front.js",
        services: [{ binding: "ARCHIVE", service: "archive" }],
      }),
      "front.js": "export default { fetch: (request, env) => env.ARCHIVE.fetch(request) };",
      "archive.json": JSON.stringify({
        ...other,
        store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
      }),
      "archive.js": script("archived"),
    });
    const files = ["-c", "wrangler.jsonc", "-c", "archive.json"];
    const server = tool(installation, folder, "ledge/dist/cli.js", "dev", ...freePorts, ...files);
    try {
      const url = await server.waitFor(readyLine);
      await tryScript(url);
      writeFileSync(join(folder, "archive.js"), script("changed"));
      await eventually(async () => assert.equal(await (await request(url)).text(), "changed"));
    } finally {
      await server.interrupt();
    }
  },

  "options of `wrangler dev`": async (installation: Installation) => {
    const folder = makeFolder(installation, "options", {
      ...ledgeProject,
      "options.js": `
        import { experimental_getWranglerCommands as read } from "wrangler";
        const { registry, globalFlags } = read();
        console.log(Object.keys({ ...globalFlags, ...registry.subtree.get("dev").definition.args }).join());
        process.exit();`,
    });
    const names = (await run(installation, folder, "options.js")).trim().split(",");
    assert(names.length > 40, names.join());
    const help = await ledge(installation, folder, "dev", "--help");
    for (const name of names) {
      if (["script", "no-bundle"].includes(name) || help.includes(`--${name} `)) continue;
      const word = name.length === 1 ? `-${name}` : `--${name}`;
      const refused = ledge(installation, folder, "dev", word);
      await assert.rejects(refused, new RegExp(`wrangler has ${word}, Ledge does not, because`));
    }
  },

  "`ledge types`": async (installation: Installation) => {
    const folder = makeFolder(installation, "ledge-types", ledgeProject);
    await ledge(installation, folder, "types");
    const types = readFileSync(join(folder, "worker-configuration.d.ts"), "utf8");
    assert.match(types, /PHOTOS: StoreBucket;/);
  },

  "a new project of `ledge init`": async (installation: Installation) => {
    const folder = join(installation.folder, "new-project");
    rmSync(folder, { recursive: true, force: true });
    await ledge(installation, installation.folder, "init", "new-project");
    await tool(installation, folder, "vitest/vitest.mjs", "run").end();
    const args = ["deploy", "--dry-run", "--outdir", "out"];
    assert.match(
      await tool(installation, folder, "wrangler/bin/wrangler.js", ...args).end(),
      /env\.FILES \(new-project-files\) +R2 Bucket/,
    );
  },

  "types by each `moduleResolution`": async (installation: Installation) => {
    const folder = makeFolder(installation, "module-resolution", {
      // A later compiler has no resolution of this kind.
      "package.json": JSON.stringify({ type: "module", dependencies: { typescript: "5.9.3" } }),
      "index.ts": `
        import { startDev } from "ledge";
        import { calls } from "ledge/test";
        import { ledge as vitePlugin } from "ledge/vite";
        import { ledge as vitestPlugin } from "ledge/vitest";
        export const all = [startDev, calls, vitePlugin, vitestPlugin];
        export const head = (bucket: StoreBucket): Promise<StoreObject | null> => bucket.head("a");`,
    });
    npmInstall(folder);
    for (const [moduleResolution, module] of [
      ["node", "es2022"],
      ["bundler", "esnext"],
      ["node16", "node16"],
      ["nodenext", "nodenext"],
    ]) {
      const compilerOptions = {
        module,
        moduleResolution,
        target: "es2022",
        lib: ["es2024", "dom"],
        types: ["ledge/types"],
        strict: true,
        skipLibCheck: true,
        noEmit: true,
      };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
      await run(installation, folder, join(folder, "node_modules/typescript/bin/tsc"));
    }
  },

  "`getPlatformProxy()` of Ledge": async (installation: Installation) => {
    const folder = makeFolder(installation, "ledge-proxy", {
      ...ledgeProject,
      "program.js": platformProxyProgram("ledge"),
    });
    assert.match(await run(installation, folder, "program.js"), /^meow me$/m);
  },

  "`new Miniflare()`": async (installation: Installation) => {
    const folder = makeFolder(installation, "miniflare", { "program.js": miniflareProgram });
    assert.match(await run(installation, folder, "program.js"), /^meow me$/m);
  },

  "the Vite plugin": async (installation: Installation) => {
    const folder = makeFolder(installation, "vite", { ...documentedProject() });
    const port = String(await freePort());
    const server = tool(installation, folder, "vite/bin/vite.js", "--port", port);
    try {
      await tryScript(await server.waitFor(/Local: +(http:\/\/\S+?)\/?\s/));
    } finally {
      await server.interrupt();
    }
  },

  "`ledge/vite`: dev and tests": async (installation: Installation) => {
    const folder = makeFolder(installation, "ledge-vite-dev", exampleProject.files);
    await tryDevAndTests(starter(installation, folder), exampleProject);
  },

  "`ledge/vite`: build, preview and deploy": async (installation: Installation) => {
    const folder = makeFolder(installation, "ledge-vite-build", exampleProject.files);
    await tryBuildAndPreview(starter(installation, folder), exampleProject);
  },

  "React Router on `ledge/vite`": async (installation: Installation) => {
    const folder = makeFolder(installation, "react-router", reactRouterProject.files);
    // Vite and wrangler, which are peers, are those of the installation.
    npmInstall(folder, "--legacy-peer-deps");
    await tryDevAndTests(starter(installation, folder), reactRouterProject);
    await tryBuildAndPreview(starter(installation, folder), reactRouterProject);
  },

  vitest: async (installation: Installation) => {
    const pool = join(
      installation.folder,
      "node_modules/@cloudflare/vitest-plugin/dist/pool/index.mjs",
    );
    // The first versions do not read that file.
    const hasNewConfig =
      existsSync(pool) && readFileSync(pool, "utf8").includes("cloudflare.config.ts");
    for (const name of ["isolation", "bindings", ...(hasNewConfig ? ["new-config"] : [])]) {
      const folder = makeFolder(installation, name, {});
      const source = join(fixtures, name);
      cpSync(source, folder, {
        recursive: true,
        filter: (path) => !path.slice(source.length).includes("node_modules"),
      });
      await tool(installation, folder, "vitest/vitest.mjs", "run").end();
    }
  },
};

export type CheckName = keyof typeof checks;

/** A project below the installation, whose packages it finds in the folder above. */
function makeFolder(
  installation: Installation,
  name: string,
  files: Readonly<Record<string, string>>,
): string {
  const folder = join(installation.folder, name);
  rmSync(folder, { recursive: true, force: true });
  const manifest = JSON.stringify({ name, private: true, type: "module" });
  for (const [path, text] of Object.entries({ "package.json": manifest, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** @param path of the tool's program in `node_modules` */
function tool(
  { folder: installed, node }: Installation,
  folder: string,
  path: string,
  ...args: string[]
): Program {
  return new Program(node, [join(installed, "node_modules", path), ...args], folder);
}

/** Programs of a project that has packages of its own beside those of the installation. */
function starter(installation: Installation, folder: string) {
  return (path: string, ...args: string[]): Program => {
    const own = join(folder, "node_modules", path);
    if (!existsSync(own)) return tool(installation, folder, path, ...args);
    return new Program(installation.node, [own, ...args], folder);
  };
}

function ledge(installation: Installation, folder: string, ...args: string[]): Promise<string> {
  return tool(installation, folder, "ledge/dist/cli.js", ...args).end();
}

function run({ node }: Installation, folder: string, program: string): Promise<string> {
  return new Program(node, [program], folder).end();
}

/** Stores and reads an object that has a file of its own. */
async function tryScript(url: string): Promise<void> {
  const photo = bytesOf(300_000);
  const put = await request(`${url}/cat`, { method: "PUT", body: photo });
  assert.equal(put.status, 200, await put.text());
  assert.deepEqual(new Uint8Array(await (await request(`${url}/cat`)).arrayBuffer()), photo);
  assert.equal((await request(`${url}/dog`)).status, 404);
}

/** The explorer has heard of the requests of `tryScript()`. */
async function tryLive(link: string, url: string): Promise<void> {
  const { address, cookie } = await openExplorerLink(link);
  const stream = await request(`${address}/api/activity?after=0`, { headers: { cookie } });
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of stream.body as ReadableStream<Uint8Array>) {
    text += decoder.decode(piece, { stream: true });
    if (text.includes(`"url":"${url}/dog"`)) return;
  }
  assert.fail(`The activity has no request for ${url}/dog: ${text}`);
}

/** A dev server that cannot reload its script lets requests wait. */
function request(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, signal: AbortSignal.timeout(requestMilliseconds) });
}
