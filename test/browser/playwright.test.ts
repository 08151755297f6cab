/** `ledge/playwright`, as the command `playwright test` runs it: the suite of an example, and suites of the tests. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createProject } from "../support/dev-process.ts";
import { findChromium } from "./support/chromium.ts";

const photos = fileURLToPath(new URL("../../examples/photos", import.meta.url));
const playwright = fileURLToPath(
  new URL("../../node_modules/@playwright/test/cli.js", import.meta.url),
);
/** LEDGE_RUNS repeats the suite of the example, each time in another order. */
const runs = Number(process.env["LEDGE_RUNS"] ?? 1);

interface Spec {
  readonly title: string;
  readonly tests: readonly {
    readonly status: "expected" | "unexpected" | "flaky" | "skipped";
    readonly annotations: readonly { readonly type: string; readonly description?: string }[];
    readonly results: readonly {
      readonly errors: readonly { readonly message: string }[];
      readonly attachments: readonly { readonly name: string; readonly body?: string }[];
    }[];
  }[];
}

interface Suite {
  readonly specs: readonly Spec[];
  readonly suites?: readonly Suite[];
}

interface Outcome {
  readonly title: string;
  readonly isExpected: boolean;
  readonly warnings: readonly (string | undefined)[];
  readonly errors: string;
  /** The texts of the attachments, by their names */
  readonly attached: Readonly<Record<string, string>>;
}

async function runTests(
  folder: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<readonly Outcome[]> {
  const child = spawn(process.execPath, [playwright, "test", "--reporter", "json", ...args], {
    cwd: folder,
    env: { ...process.env, CHROMIUM: findChromium(), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    child.exitCode ?? once(child, "close"),
  ]);
  const start = output.indexOf("{\n");
  if (start === -1) throw new Error(`${output}\n${errors}`);
  const report = JSON.parse(output.slice(start)) as {
    suites: Suite[];
    errors: { message: string }[];
  };
  const problems = report.errors.filter(({ message }) => !message.includes("stopped early"));
  expect(problems).toEqual([]);
  return report.suites.flatMap(specsOf).map(outcomeOf);
}

function specsOf({ specs, suites = [] }: Suite): readonly Spec[] {
  return [...specs, ...suites.flatMap(specsOf)];
}

function outcomeOf({ title, tests }: Spec): Outcome {
  const [{ status, annotations, results }] = tests as [Spec["tests"][0]];
  const attachments = results.flatMap((result) => result.attachments);
  const warnings = annotations.filter(({ type }) => type === "warning");
  return {
    title,
    isExpected: status === "expected",
    warnings: warnings.map(({ description }) => description),
    errors: results.flatMap((result) => result.errors.map(({ message }) => message)).join("\n"),
    attached: Object.fromEntries(
      attachments.map(({ name, body }) => [name, Buffer.from(body ?? "", "base64").toString()]),
    ),
  };
}

const failures = (outcomes: readonly Outcome[]): string[] =>
  outcomes
    .filter(({ isExpected }) => !isExpected)
    .map(({ title, errors }) => `${title}: ${errors}`);

describe("the suite of the example photos", () => {
  it("passes in random order with two workers", { timeout: 180_000 * runs }, async () => {
    for (let run = 0; run < runs; run++) {
      const seed = process.env["LEDGE_SEED"] ?? String(Date.now());
      const outcomes = await runTests(photos, ["--shuffle", seed]);
      expect(outcomes.length).toBeGreaterThanOrEqual(20);
      expect(failures(outcomes), `with --shuffle ${seed}`).toEqual([]);
    }
  });

  it("fails without isolation", async () => {
    const outcomes = await runTests(photos, ["--max-failures", "2"], { ISOLATE: "false" });
    expect(failures(outcomes).length).toBeGreaterThanOrEqual(2);
  });
});

/** Keeps what is put in a bucket and in KV. `/slow` answers after a minute. */
const script = `
  export default {
    async fetch(request, env) {
      const key = new URL(request.url).pathname.slice(1);
      if (key === "slow") await new Promise((resolve) => setTimeout(resolve, 60_000));
      if (request.method === "PUT") {
        const value = await request.text();
        await Promise.all([env.PHOTOS.put(key, value), env.KV.put(key, value)]);
      }
      return Response.json((await env.KV.list()).keys.map(({ name }) => name));
    },
  };`;

function createSuite(specs: Record<string, string>): string {
  return createProject({
    "package.json": { type: "module" },
    "wrangler.json": {
      name: "suite",
      main: "index.js",
      compatibility_date: "2026-08-01",
      store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
      kv_namespaces: [{ binding: "KV", id: "kv" }],
    },
    "index.js": script,
    "playwright.config.ts": `export default { workers: 1, use: { ledge: { logLevel: "none" } } };`,
    ...specs,
  });
}

/** Of the files of a suite, before their tests. */
const imports = `import { test, expect } from "ledge/playwright";\n`;

/** Two tests that see what the hook has prepared, and each writes something else. */
const prepared = (name: string): string => `
  test.beforeAll(async ({ seed, request }) => {
    await seed("photos", { "of-${name}": "1" });
    await request.put("/kv-of-${name}", { data: "2" });
  });
  for (const written of ["one", "two"]) {
    test("${name} has what its hook prepared, beside test " + written, async ({ request, contents }) => {
      expect(Object.keys(await contents("photos"))).toEqual(["kv-of-${name}", "of-${name}"]);
      expect(await (await request.get("/")).json()).toEqual(["kv-of-${name}"]);
      await request.put("/" + written, { data: written });
    });
  }`;

describe("test of ledge/playwright", () => {
  it("keeps what beforeAll prepares for the tests of its file", async () => {
    const folder = createSuite({
      "first.spec.ts": imports + prepared("first"),
      "second.spec.ts": imports + prepared("second"),
      "third.spec.ts": `${imports}
        test("third is empty", async ({ contents, request }) => {
          expect(await contents("photos")).toEqual({});
          expect(await (await request.get("/")).json()).toEqual([]);
        });`,
    });
    const outcomes = await runTests(folder, []);
    expect(failures(outcomes)).toEqual([]);
    expect(outcomes.length).toBe(5);
  });

  it("undoes saves and restores of a test, faults, the clock, and calls", async () => {
    const folder = createSuite({
      "all.spec.ts": `${imports}
        test("changes everything", async ({ seed, state, faults, clock, dns }) => {
          await seed("photos", { a: "1" });
          await state.save("with a");
          await seed("photos", { b: "1" });
          await faults.fail({ method: "put" });
          await clock.advance("8d");
          await dns.zone("example.org", [{ type: "A", name: "@", content: "192.0.2.1" }]);
          await dns.faults.servfail({ name: "example.org" });
          await state.restore("with-a");
        });
        test("finds nothing", async ({ contents, calls, clock, request, dns }) => {
          expect(await contents("photos")).toEqual({});
          expect(await calls()).toEqual([]);
          expect(Math.abs(+await clock.now() - Date.now())).toBeLessThan(3_600_000);
          await request.put("/c", { data: "3" });
          expect(await calls()).toHavePut("c", { outcome: "ok", bytes: 1 });
          await expect(dns.records("example.org")).rejects.toThrow("no zone");
          expect(await dns.queries()).not.toHaveQueried("example.org");
        });`.replaceAll("with a", "with-a"),
    });
    expect(failures(await runTests(folder, []))).toEqual([]);
  });

  it("names the requests that a test leaves behind, and ends them", async () => {
    const folder = createSuite({
      "slow.spec.ts": `${imports}
        test("leaves a request", async ({ server, calls }) => {
          void fetch(server.url + "/slow", { method: "PUT", body: "late" }).catch(() => {});
          await fetch(server.url);
        });
        test("finds nothing of the request", async ({ contents }) => {
          expect(await contents("photos")).toEqual({});
        });`,
    });
    const outcomes = await runTests(folder, []);
    expect(failures(outcomes)).toEqual([]);
    expect(outcomes.map(({ warnings }) => warnings)).toEqual([
      [expect.stringContaining("PUT /slow")],
      [],
    ]);
  });

  it("reports the faults of a test that fails", async () => {
    const folder = createSuite({
      "failing.spec.ts": `${imports}
        test("fails", async ({ request, faults, calls }) => {
          await faults.fail({ method: "put", key: "a" });
          await faults.fail({ method: "get" });
          expect((await request.put("/a", { data: "1" })).status()).toBe(500);
          expect(await calls()).not.toHavePut("a");
        });`,
    });
    const [outcome] = (await runTests(folder, [])) as [Outcome];
    expect(outcome.errors).toContain("put a in photos: error 10001");
    expect(outcome.attached["ledge"]).toMatch(
      /put of "a".*failed with 10001[^]*faults\.fail\(.*get/,
    );
  });

  it("says why the script does not run", async () => {
    const folder = createSuite({
      "index.js": "export default {",
      "any.spec.ts": `${imports} test("any", ({ page }) => page.goto("/"));`,
    });
    const [outcome] = (await runTests(folder, [])) as [Outcome];
    expect(outcome.errors).toContain("index.js:1:16: ERROR");
  });

  it("merges with a test of the project, and takes options of startDev()", async () => {
    const folder = createSuite({
      "seed/buckets/photos/a.txt": "one",
      "seeded.spec.ts": `${imports}
        test.use({ ledge: { seed: "seed", logLevel: "none" } });
        for (const title of ["seeded", "seeded again"]) {
          test(title, async ({ contents, request }) => {
            expect(await contents("photos")).toEqual({ "a.txt": "one" });
            await request.put("/b", { data: "2" });
          });
        }`,
      "own.spec.ts": `
        import { mergeTests, test as base } from "@playwright/test";
        import { test as ledge, expect } from "ledge/playwright";
        const test = mergeTests(base.extend({ greeting: async ({}, use) => use("hello") }), ledge);
        test.use({ ledge: { isolate: false, logLevel: "none" } });
        for (const [index, title] of ["first", "second"].entries()) {
          test(title, async ({ greeting, request, baseURL, server }) => {
            expect(baseURL).toBe(server.url);
            await request.put("/" + greeting + index, { data: greeting });
            expect(await (await request.get("/")).json()).toHaveLength(index + 1);
          });
        }`,
    });
    expect(failures(await runTests(folder, []))).toEqual([]);
  });
});
