/** `ledge types`: the file compiles with a script, and `--check` reports a file that is out of date. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { generateTypes } from "../../src/cli/generate-types.ts";
import { ledge } from "../support/dev-process.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { run, temporaryProject } from "../support/project.ts";

const configuration = {
  name: "photos",
  main: "src/index.ts",
  compatibility_date: "2026-08-01",
  compatibility_flags: ["store_list_honor_include", "nodejs_compat"],
  vars: { GREETING: "hello" },
  kv_namespaces: [{ binding: "KV", id: "kv" }],
  store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
  dns: { binding: "DNS" },
};

const script = `
export default {
  async fetch(request, env): Promise<Response> {
    const greeting: "hello" = env.GREETING;
    const known: string | null = await env.KV.get("known");
    if (request.body !== null) {
      const { etag } = await env.PHOTOS.put("photo", request.body, { storageClass: "Standard" });
      return new Response(etag + greeting + known);
    }
    // @ts-expect-error -- no such class
    await env.PHOTOS.put("photo", "", { storageClass: "Cold" });
    // @ts-expect-error -- no such bucket
    await env.PHOTO.head("photo");
    const object: StoreObjectBody | null = await env.PHOTOS.get("photo");
    if (object === null) return env.DNS.fetch("http://dns/client/v4/zones");
    const headers = new Headers({ etag: object.httpEtag });
    object.writeHttpMetadata(headers);
    return new Response(object.body, { headers });
  },
} satisfies ExportedHandler<Env>;
`;

const tsconfig = {
  compilerOptions: {
    target: "ES2024",
    lib: ["ES2024"],
    module: "ESNext",
    moduleResolution: "Bundler",
    strict: true,
    noEmit: true,
    types: ["./worker-configuration.d.ts"],
  },
  include: ["src"],
};

function bucket(binding: string) {
  return { binding, bucket_name: "x" };
}

function project(changes: object = {}): string {
  return temporaryProject({
    "wrangler.jsonc": JSON.stringify({ ...configuration, ...changes }, null, 2),
    "tsconfig.json": JSON.stringify(tsconfig),
    "src/index.ts": script,
  });
}

// The compiler and wrangler are slow on a busy machine.
describe("ledge types", { timeout: 120_000 }, () => {
  it("needs no keys of remotes", async () => {
    const remote = { remotes: { cluster: { endpoint: "https://s3.example.net" } } };
    const buckets = { store_buckets: [{ ...bucket("PHOTOS"), remote: "cluster" }] };
    const folder = project({ ...remote, ...buckets, env: { test: buckets } });
    const { content } = await generateTypes({ folder, includeRuntime: false });
    expect(content).toMatch(/PHOTOS: .*StoreBucket/);
  });

  it("writes types that accept a script and reject its mistakes", async () => {
    const folder = project();
    expect(await run(folder, "ledge", "types")).toEqual({
      code: 0,
      out: "Wrote worker-configuration.d.ts.\n",
      error: "",
    });
    expect(await run(folder, "tsc", "-p", ".")).toMatchObject({ code: 0, out: "" });
  });

  it("says where a compatibility flag stands that does not exist", async () => {
    const folder = project({ compatibility_flags: ["nodejs_compat", "nodejs_compta"] });
    expect(await runInProcess(folder, ["types"])).toMatchObject({
      code: 1,
      error: "wrangler.jsonc:7:5: No such compatibility flag: nodejs_compta\n",
    });
  });

  it("says that wrangler cannot write below the home folder", () => {
    const folder = project();
    const home = join(folder, "wrangler.jsonc", "home");
    const { XDG_CONFIG_HOME: _, ...environment } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, [ledge, "types"], {
      cwd: folder,
      encoding: "utf8",
      env: { ...environment, HOME: home },
    });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^wrangler cannot write to .*\/home\/.* Set HOME to a folder .*\.\n$/);
  });

  it("leaves wrangler's type to a bucket that a deploy has too", async () => {
    const deployed = ["PHOTOS", "LOGS"].map((binding) => ({ binding, bucket_name: "photos" }));
    const { content } = await generateTypes({
      folder: project({ r2_buckets: deployed }),
      adopt: true,
      includeRuntime: false,
    });
    expect(content).toContain("PHOTOS: R2Bucket;");
    expect(content).toContain("LOGS: R2Bucket;");
    expect(content).not.toContain("StoreBucket");
  });

  it("--check reports whether the file is up to date", async () => {
    const folder = project();
    const check = () => runInProcess(folder, ["types", "--check", "--include-runtime", "false"]);
    const command = "ledge types --include-runtime false";
    const made = await generateTypes({ folder, includeRuntime: false, command });
    writeFileSync(made.path, made.content);
    expect(await check()).toMatchObject({
      code: 0,
      out: "worker-configuration.d.ts is up to date.\n",
    });

    const more = [...configuration.store_buckets, { binding: "MORE", bucket_name: "more" }];
    writeFileSync(
      join(folder, "wrangler.jsonc"),
      JSON.stringify({ ...configuration, store_buckets: more }),
    );
    expect(await check()).toEqual({
      code: 1,
      out: "",
      error: `worker-configuration.d.ts is out of date: run "${command}" and commit the file.\n`,
    });
  });

  it("types the bindings of all environments, or of one environment", async () => {
    const folder = project({
      vars: undefined,
      env: {
        staging: { kv_namespaces: [], store_buckets: [bucket("PHOTOS"), bucket("ONLY")] },
        other: { kv_namespaces: [], store_buckets: [bucket("KV")] },
      },
    });
    const { content: all } = await generateTypes({
      folder,
      envInterface: "MyEnv",
      includeRuntime: false,
    });
    expect(all).toMatch(/^\tPHOTOS\?: StoreBucket;$/m);
    expect(all).toMatch(/^\tONLY\?: StoreBucket;$/m);
    expect(all).toMatch(/^\tKV\?: StoreBucket \| KVNamespace;$/m);
    expect(all).toMatch(/^\tDNS: Fetcher;$/m);
    expect(all).toContain("interface MyEnv");
    const words = ["types", "one.d.ts", "--env", "staging", "--include-runtime", "false"];
    const finished = await run(folder, "ledge", ...words);
    expect(finished.code).toBe(0);
    // wrangler's warning names the user's file, not the derived file.
    expect(finished.error).toContain("Processing wrangler.jsonc configuration");
    const one = readFileSync(join(folder, "one.d.ts"), "utf8");
    expect(one).toMatch(/^\tONLY: StoreBucket;$/m);
    expect(one).not.toContain("KV");
  });

  it.each([
    [["types", "env.ts"], 1, "env.ts does not end in .d.ts: name a declaration file."],
    [["types", "--env-interface", "a-b"], 1, '"a-b" is not a name for an interface'],
    [
      ["types", "--include-env", "false", "--include-runtime", "false"],
      1,
      "There is nothing to generate",
    ],
    [["types", "--include-env", "no"], 2, '--include-env must be true or false, not "no".'],
    [["types", "--env", "x"], 1, 'wrangler.jsonc has no environment "x"'],
  ])("%j fails with a message", async (words, code, message) => {
    const finished = await runInProcess(project(), words);
    expect(finished.error).toContain(message);
    expect(finished.code).toBe(code);
  });
});

describe("ledge types with several configuration files", { timeout: 120_000 }, () => {
  const service = {
    name: "payments",
    main: "index.ts",
    compatibility_date: "2026-08-01",
    store_buckets: [bucket("RECEIPTS")],
    s3: {},
  };
  const files = {
    "shop/wrangler.json": JSON.stringify({
      ...configuration,
      services: [{ binding: "PAYMENTS", service: "payments", entrypoint: "Till" }],
    }),
    "shop/src/index.ts": "export default { fetch: () => new Response() };",
    "payments/wrangler.json": JSON.stringify(service),
    "payments/index.ts": `
      import { WorkerEntrypoint } from "cloudflare:workers";
      export class Till extends WorkerEntrypoint { pay(amount: number): number { return amount; } }
      export default {};`,
  };
  const runtime = ["--include-runtime", "false"];
  const words = ["types", "-c", "shop/wrangler.json", "-c", "payments/wrangler.json", ...runtime];

  it("the first is the script, and the others give the types of service bindings", async () => {
    const folder = temporaryProject(files);
    expect(await runInProcess(folder, words)).toEqual({
      code: 0,
      out: "Wrote worker-configuration.d.ts.\n",
      error: "",
    });
    const types = readFileSync(join(folder, "worker-configuration.d.ts"), "utf8");
    expect(types).toContain("PHOTOS: StoreBucket;");
    expect(types).not.toContain("RECEIPTS");
    expect(types).toMatch(/PAYMENTS: Service<typeof import\("\.\/payments\/index"\)\.Till>/);
    expect(await runInProcess(folder, [...words, "--check"])).toMatchObject({ code: 0 });

    const other = ["types", "-c", "payments/wrangler.json", ...runtime];
    expect(await runInProcess(folder, other)).toMatchObject({
      code: 0,
      out:
        "Wrote worker-configuration.d.ts.\nworker-configuration.d.ts had the types of another configuration: " +
        '"ledge types --config shop/wrangler.json --config payments/wrangler.json --include-runtime false" ' +
        "wrote it.\n",
    });
    writeFileSync(join(folder, "worker-configuration.d.ts"), "interface Env { MINE: string }\n");
    expect(await runInProcess(folder, words)).toMatchObject({
      code: 1,
      error: expect.stringContaining("worker-configuration.d.ts is no file of") as string,
    });
    const kept = readFileSync(join(folder, "worker-configuration.d.ts"), "utf8");
    expect(kept).toBe("interface Env { MINE: string }\n");
  });
});
