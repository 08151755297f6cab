/** The packed package in a project outside of this repository. */
import { describe, expect, it } from "vitest";
import { makeProject, runVitest } from "./support/packed-project.ts";

const config = `import { ledge } from "ledge/vitest";
import { defineConfig } from "vitest/config";

export default defineConfig({ plugins: [ledge()] });
`;

const files = {
  "vitest.config.ts": config,
  "wrangler.toml": `
    name = "gallery"
    main = "src/index.ts"
    compatibility_date = "2026-08-01"
    [[store_buckets]]
    binding = "PHOTOS"
    bucket_name = "photos"
    [[store_buckets]]
    binding = "THUMBNAILS"
    bucket_name = "thumbnails"
    [env.staging]
    store_buckets = [
      { binding = "PHOTOS", bucket_name = "staging-photos" },
      { binding = "THUMBNAILS", bucket_name = "staging-thumbnails" },
    ]`,
  "src/index.ts": `
    export default {
      async fetch(request, env) {
        const key = new URL(request.url).pathname.slice(1);
        const photo = await request.text();
        await env.PHOTOS.put(key, photo);
        await env.THUMBNAILS.put(key, photo.slice(0, 3));
        return new Response("stored " + key);
      },
    };`,
  "test/gallery.test.ts": `
    import { env, SELF } from "cloudflare:test";
    import { calls, contents } from "ledge/test";
    import { expect, it } from "vitest";

    it("stores a photo and its thumbnail", async () => {
      const response = await SELF.fetch("http://gallery/a.png", { method: "PUT", body: "a photo" });
      expect(await response.text()).toBe("stored a.png");
      expect(calls).toHavePut("a.png", { bucket: BUCKET, bytes: 7 });
      expect(await contents(env.PHOTOS)).toEqual({ "a.png": "a photo" });
      expect(await contents(env.THUMBNAILS)).toEqual({ "a.png": "a p" });
    });

    it("begins with an empty bucket", async () => {
      expect(await contents(env.PHOTOS)).toEqual({});
    });`.replace("BUCKET", `"photos"`),
};

const isolationTest = (name: string) => `
      import { env } from "cloudflare:test";
      import { contents } from "ledge/test";
      import { expect, it } from "vitest";
      it("sees only its own objects", async () => {
        await env.PHOTOS.put("${name}", "x");
        for (let round = 0; round < 20; round++) {
          await env.PHOTOS.put("shared", "${name}");
          await new Promise((resolve) => setTimeout(resolve, 10));
          expect(await contents(env.PHOTOS)).toEqual({ "${name}": "x", shared: "${name}" });
        }
      });`;

describe("a fresh project", () => {
  it("passes its tests without warnings, and isolates concurrent test files", async () => {
    const project = makeProject({
      ...files,
      "test/one.test.ts": isolationTest("one"),
      "test/two.test.ts": isolationTest("two"),
    });
    const { status, output } = await runVitest(project.folder, ["--max-workers=2"]);
    expect(output).toContain("4 passed");
    expect(status).toBe(0);
    // The pool warns that it has been renamed; no other warning is allowed.
    expect(output.replace(/WARNING: @cloudflare\/vitest-pool-workers.*/, "")).not.toMatch(/warn/i);
  });

  it("can test an environment of the configuration, with options of the pool", async () => {
    const options = `{ environment: "staging", miniflare: { bindings: { GREETING: "hello" } } }`;
    const project = makeProject({
      ...files,
      "vitest.config.ts": config.replace("ledge()", `ledge(${options})`),
      "test/gallery.test.ts": files["test/gallery.test.ts"].replace(`"photos"`, `"staging-photos"`),
      "test/bindings.test.ts": `
        import { env } from "cloudflare:test";
        import { expect, it } from "vitest";
        it("has the binding of the pool's option", () => expect(env.GREETING).toBe("hello"));`,
    });
    const { status, output } = await runVitest(project.folder);
    expect(output).toContain("3 passed");
    expect(status).toBe(0);
  });

  it("lets tests see each other's writes with `isolate: false`", async () => {
    const project = makeProject({
      ...files,
      "vitest.config.ts": config.replace("ledge()", "ledge({ isolate: false })"),
    });
    const { status, output } = await runVitest(project.folder);
    expect(output).toContain("1 failed | 1 passed");
    expect(status).toBe(1);
  });
});

describe("an incomplete project", () => {
  it("without a pool fails with the command that installs one", async () => {
    const project = makeProject(files, { without: ["@cloudflare/vitest-pool-workers"] });
    const { status, output } = await runVitest(project.folder);
    expect(status).toBe(1);
    expect(output).toContain(
      "ledge/vitest runs tests in @cloudflare/vitest-plugin or @cloudflare/vitest-pool-workers, " +
        `and ${project.folder} has neither. Install one: ` +
        "npm install --save-dev @cloudflare/vitest-plugin",
    );
  });

  it("with an old pool fails with the version that it needs", async () => {
    const project = makeProject(files, { without: ["@cloudflare/vitest-pool-workers"] });
    project.write(
      "node_modules/@cloudflare/vitest-pool-workers/package.json",
      JSON.stringify({ name: "@cloudflare/vitest-pool-workers", version: "0.8.0" }),
    );
    const { status, output } = await runVitest(project.folder);
    expect(status).toBe(1);
    expect(output).toContain("needs @cloudflare/vitest-pool-workers 0.22.0 or later");
    expect(output).toContain("has 0.8.0. Update it: npm install --save-dev");
  });

  it("without a configuration file fails with the names of such files", async () => {
    const { "wrangler.toml": _, ...others } = files;
    const { status, output } = await runVitest(makeProject(others).folder);
    expect(status).toBe(1);
    expect(output).toContain("There is no wrangler.toml, wrangler.json or wrangler.jsonc in");
  });

  it("with a mistake in the configuration file fails with the mistake", async () => {
    const project = makeProject({
      ...files,
      "wrangler.toml": files["wrangler.toml"].replace("bucket_name", "bucketname"),
    });
    const { status, output } = await runVitest(project.folder);
    expect(status).toBe(1);
    expect(output).toMatch(/wrangler\.toml.*bucket/s);
  });

  it("with an option that does not exist fails with the nearest option", async () => {
    const project = makeProject({
      ...files,
      "vitest.config.ts": config.replace("ledge()", `ledge({ isolat: false })`),
    });
    const { status, output } = await runVitest(project.folder);
    expect(status).toBe(1);
    expect(output).toContain(`isolat is not a key; did you mean "isolate"?`);
  });

  it("with experimental.newConfig fails on a pool that does not know the option", async () => {
    const options = `{ experimental: { newConfig: true } }`;
    const project = makeProject({
      ...files,
      "vitest.config.ts": config.replace("ledge()", `ledge(${options})`),
    });
    const { status, output } = await runVitest(project.folder);
    expect(status).toBe(1);
    expect(output).toMatch(/vitest-pool-workers 0\.\d+\.\d+ does not know experimental\.newConfig/);
  });

  it.each([
    ["no script", { main: "src/other.ts" }, /wrangler\.jsonc:\d+:\d+: main is "src\/other\.ts"/],
    [
      "a date of the far future",
      { compatibility_date: "2099-01-01" },
      /wrangler\.jsonc:\d+:\d+: .*2099/,
    ],
    [
      "a flag that does not exist",
      { compatibility_flags: ["no_such_flag"] },
      /wrangler\.jsonc:\d+:\d+: .*no_such_flag/,
    ],
    ["a wrong value of wrangler's key", { kv_namespaces: [{ id: 1 }] }, /wrangler\.jsonc/],
  ])("with %s fails with the name of the user's file", async (_, table, expected) => {
    const { "wrangler.toml": _toml, ...others } = files;
    const project = makeProject({
      ...others,
      "wrangler.jsonc": JSON.stringify({
        name: "gallery",
        main: "src/index.ts",
        compatibility_date: "2026-08-01",
        ...table,
      }),
    });
    const { status, output } = await runVitest(project.folder);
    expect(status).toBe(1);
    expect(output).toMatch(expected);
    expect(output).not.toContain(".ledge-");
  });
});
