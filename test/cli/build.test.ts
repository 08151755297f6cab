/** `ledge build`, and its folder in workerd alone. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { build, serve, type EdgeBuild } from "../support/edge-runtime.ts";
import { startFaultyProxy } from "../support/faulty-proxy.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { run, temporaryProject } from "../support/project.ts";
import { clusterKeys as keys, startCluster } from "../support/remote-service.ts";

const script = `
import text from "./greeting.txt";
import data from "./five.bin";
import wasm from "./empty.wasm";

export default {
  async fetch(request, env) {
    const key = decodeURIComponent(new URL(request.url).pathname.slice(1));
    try {
      if (key === "modules") {
        const instance = await WebAssembly.instantiate(wasm);
        return Response.json({ text, bytes: data.byteLength, wasm: instance instanceof WebAssembly.Instance,
          variable: env.GREETING, table: env.LIMITS, secret: env.TOKEN });
      }
      if (request.method === "PUT") return Response.json(await env.PHOTOS.put(key, request.body));
      if (request.method === "POST") {
        const upload = await env.PHOTOS.createMultipartUpload(key);
        const parts = [await upload.uploadPart(1, "a".repeat(5 * 1024 * 1024)), await upload.uploadPart(2, "end")];
        return Response.json(await upload.complete(parts));
      }
      if (key === "") return Response.json((await env.PHOTOS.list()).objects.map(({ key, size }) => ({ key, size })));
      const found = await env.PHOTOS.get(key);
      return found === null ? new Response("none", { status: 404 }) : new Response(found.body);
    } catch (error) {
      return new Response(error.message, { status: 500 });
    }
  },
};
`;

function project(endpoint: string, configuration: object = {}, place?: string): string {
  const files = {
    "src/index.js": script,
    "src/greeting.txt": "hello",
    "src/five.bin": "12345",
    ".dev.vars": "TOKEN=only-for-development\n",
    "wrangler.json": JSON.stringify({
      name: "photos",
      main: "src/index.js",
      compatibility_date: "2026-08-01",
      compatibility_flags: ["store_list_trailing_delimiter"],
      vars: { GREETING: 'say "hi"', LIMITS: { max: 1 } },
      store_buckets: [{ binding: "PHOTOS", bucket_name: "photos", remote: "cluster" }],
      remotes: {
        cluster: {
          endpoint,
          prefix: "team/",
          access_key_id: keys.LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID,
          secret_access_key: keys.LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY,
        },
      },
      ...configuration,
    }),
  };
  const folder = temporaryProject(files, place);
  writeFileSync(join(folder, "src/empty.wasm"), Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  return folder;
}

/** The service, and a build for it that tests only read. */
let url: string;
let made: EdgeBuild;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "ledge-test-"));
  const server = await startCluster(join(folder, "state"));
  ({ url } = server);
  made = await build(project(url, {}, join(folder, "project")));
  return async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  };
});

describe("a build", () => {
  it("runs in workerd alone, and the data outlives the runtime", async () => {
    expect(made.files).toContain("workerd.capnp");
    expect(made.folder.endsWith("dist-edge")).toBe(true);

    const environment = { ...keys, TOKEN: "secret of the runtime" };
    const first = await serve(made, environment);
    expect(await (await first.fetch("modules")).json()).toEqual({
      text: "hello",
      bytes: 5,
      wasm: true,
      variable: 'say "hi"',
      table: { max: 1 },
      secret: "secret of the runtime",
    });
    const large = Buffer.alloc(6_000_000, "large");
    for (const body of ["small", large]) {
      const path = `put/${body.length}`;
      expect((await first.fetch(path, { method: "PUT", body })).status).toBe(200);
    }
    const uploaded = await first.fetch("parts", { method: "POST" });
    const upload = await uploaded.text();
    expect(upload).toMatch(/"size":5242883\b/);
    await first.kill();

    const second = await serve(made, environment);
    expect(await (await second.fetch("put/5")).text()).toBe("small");
    const read = Buffer.from(await (await second.fetch("put/6000000")).arrayBuffer());
    expect(read.equals(large)).toBe(true);
    expect(await (await second.fetch("")).json()).toEqual([
      { key: "parts", size: 5 * 1024 * 1024 + 3 },
      { key: "put/5", size: 5 },
      { key: "put/6000000", size: 6_000_000 },
    ]);
    // Large content waits in the spool, and is removed when it was sent.
    expect(filesBelow(join(made.folder, "spool"))).toEqual([]);
  });

  it.each([
    { words: [], isProbed: false },
    { words: ["--no-probe"], isProbed: true },
  ])("asks before the first write which service this is: $words", async ({ words, isProbed }) => {
    const proxy = await startFaultyProxy(url);
    onTestFinished(() => proxy.close());
    const asking = await build(project(proxy.endpoint), ...words);
    const before = proxy.log.length;
    const runtime = await serve(asking, { ...keys, TOKEN: "" });
    expect((await runtime.fetch("none")).status).toBe(404);
    const sent = () => proxy.log.slice(before).map(({ method, path }) => `${method} ${path}`);
    const questions = () => sent().filter((line) => line.includes("versioning"));
    expect(questions()).toEqual([]);
    const put = (number: number) => runtime.fetch(`asked/${number}`, { method: "PUT", body: "1" });
    const answers = await Promise.all([1, 2, 3].map(put));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await put(4);
    // A probe identifies the service too.
    expect(questions()).toHaveLength(isProbed ? 2 : 1);
    expect(sent().some((line) => line.includes("/team/.ledge-probe-"))).toBe(isProbed);
  });

  it("has neither keys nor secrets in its files", async () => {
    const { folder } = made;
    const texts = filesBelow(folder).map((file) => readFileSync(join(folder, file), "utf8"));
    expect(texts.length).toBeGreaterThan(5);
    const found = texts.filter((text) => /only-for-development|cluster-(?:key|secret)/.test(text));
    expect(found).toEqual([]);
  });

  it("explains keys that are wrong, and keys that are missing", async () => {
    const wrong = await serve(made, {
      ...keys,
      TOKEN: "1",
      LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY: "another-secret",
    });
    const sentence = await (await wrong.fetch("key")).text();
    expect(sentence).toContain(`The remote "cluster" (${url}) refused the signature`);
    const { LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY: _, ...incomplete } = { ...keys, TOKEN: "1" };
    const missing = await serve(made, incomplete);
    expect(missing.isRunning).toBe(false);
    expect(missing.output()).toContain(
      "The environment has no LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY: set it before workerd starts.",
    );
  });

  it("does not start without a secret of the script", async () => {
    const runtime = await serve(made, keys);
    expect(runtime.isRunning).toBe(false);
    expect(runtime.output()).toContain(
      "The environment has no TOKEN: set it before workerd starts.",
    );
  });

  it("has a spool that only its user reads", () => {
    expect(statSync(join(made.folder, "spool")).mode & 0o777).toBe(0o700);
  });

  it("is replaced by the next, which prints its files, the variables and the command", async () => {
    const { folder } = made;
    writeFileSync(join(folder, "modules/stale.js"), "");
    writeFileSync(join(folder, "spool/kept"), "");
    const { out, code } = await run(join(folder, ".."), "ledge", "build", "--port", "9000");
    expect(code).toBe(0);
    expect(existsSync(join(folder, "modules/stale.js"))).toBe(false);
    expect(existsSync(join(folder, "spool/kept"))).toBe(true);
    rmSync(join(folder, "spool/kept"));

    expect(out).toMatch(/^Written to dist-edge:\n {2}workerd\.capnp\n {2}modules\/index\.js\n/);
    expect(out).toContain(
      [
        "workerd needs in its environment:",
        ...Object.keys(keys).map((name) => `  ${name}`),
        "  TOKEN",
        "  LEDGE_REMOTE_CLUSTER_SESSION_TOKEN (for temporary keys)",
      ].join("\n"),
    );
    expect(out).toMatch(
      /Run it with workerd 1\.\d+\.\d+:\n {2}cd dist-edge && workerd serve workerd\.capnp\n$/,
    );
  });
});

describe("ledge build", () => {
  it("replaces no folder with other files", async () => {
    const refused = await runInProcess(join(made.folder, ".."), ["build", "--outdir", "src"]);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.error).toContain("has files that ledge build has not written");
  });

  it.each<[name: string, configuration: object, sentences: string[]]>([
    [
      "bindings of the platform",
      {
        kv_namespaces: [{ binding: "CACHE", id: "x" }],
        d1_databases: [{ binding: "DB", database_name: "db", database_id: "x" }],
      },
      [
        '"CACHE" is a KV namespace, and no remote has a bucket for it: add kv_bucket',
        '"DB" is a D1 database, which workerd',
      ],
    ],
    [
      "a local bucket",
      { store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }] },
      ['The bucket "photos" (env.PHOTOS) is in the state folder', 'add remote = "NAME"'],
    ],
    ["static assets", { assets: { directory: "src" } }, ['The configuration has "assets"']],
    [
      "a script that cannot be bundled",
      { main: "src/missing.js" },
      ["wrangler cannot bundle the script", "src/missing.js"],
    ],
  ])("refuses %s", async (_, configuration, sentences) => {
    const folder = project("http://127.0.0.1:1", configuration);
    const { code, error } = await runInProcess(folder, ["build", "--no-probe"]);
    expect(code).toBe(1);
    for (const sentence of sentences) expect(error).toContain(sentence);
    expect(existsSync(join(folder, "dist-edge"))).toBe(false);
  });

  it("refuses a service that cannot be reached", async () => {
    const { code, error } = await run(project("http://127.0.0.1:1"), "ledge", "build");
    expect(code).toBe(1);
    expect(error).toContain('The remote "cluster" (http://127.0.0.1:1) cannot be reached');
  });

  it("needs neither the service nor keys if the build does not ask", async () => {
    const remotes = { cluster: { endpoint: "http://127.0.0.1:1" } };
    const folder = project("", { remotes });
    expect((await runInProcess(folder, ["build"])).error).toContain("has no access_key_id");
    const { files } = await build(folder, "--no-probe");
    expect(files).toContain("workerd.capnp");
  });

  it("has Durable Objects in a folder beside the build, which one runtime at a time may use", async () => {
    const folder = project("", {
      store_buckets: [],
      main: "src/counter.js",
      durable_objects: { bindings: [{ name: "COUNTER", class_name: "Counter" }] },
      migrations: [{ tag: "v1", new_sqlite_classes: ["Counter"] }],
      remotes: {},
    });
    rmSync(join(folder, ".dev.vars"));
    writeFileSync(join(folder, "src/counter.js"), counter);
    const counting = await build(folder);
    expect(filesBelow(counting.folder).toSorted()).toEqual(counting.files.toSorted());
    const homeless = await serve(counting, {});
    expect(homeless.isRunning).toBe(false);
    expect(homeless.output()).toMatch(/Directory .*objects.* must be specified/);

    const objects = join(folder, "objects");
    mkdirSync(objects);
    // The command that the build prints.
    const { command } = counting as typeof counting & { command: string };
    const [words = ""] = command.split("workerd serve workerd.capnp ");
    expect(words).toBe("flock --nonblock --verbose --no-fork OBJECTS_FOLDER ");
    const options = {
      before: words.trim().replace("OBJECTS_FOLDER", objects).split(" "),
      after: [`--directory-path=objects=${objects}`],
    };
    const first = await serve(counting, {}, options);
    expect(await (await first.fetch("")).text()).toBe("1");
    const second = await serve(counting, {}, options);
    expect(second.isRunning).toBe(false);
    expect(second.output()).toContain("flock: failed to get lock");
    expect(await (await first.fetch("")).text()).toBe("2");
    await first.kill();
    const third = await serve(counting, {}, options);
    expect(await (await third.fetch("")).text()).toBe("3");
  });
});

const counter = `
import { DurableObject } from "cloudflare:workers";
export class Counter extends DurableObject {
  async next() {
    const count = ((await this.ctx.storage.get("count")) ?? 0) + 1;
    await this.ctx.storage.put("count", count);
    return count;
  }
}
export default {
  async fetch(request, { COUNTER }) {
    return new Response(String(await COUNTER.get(COUNTER.idFromName("one")).next()));
  },
};
`;

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
