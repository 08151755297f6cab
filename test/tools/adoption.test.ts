/**
 * A project of wrangler as people have it (`fixtures/shop`): two packages, R2, KV, D1, a Durable
 * Object, assets, cron, a queue, and tests. It runs unedited, and after `ledge init` has edited it.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { getPlatformProxy } from "wrangler";
import type { StoreBucket } from "../../src/types/store.ts";
import { DevProcess } from "../support/dev-process.ts";
import { makeProject, runVitest } from "./support/packed-project.ts";

const fixture = fileURLToPath(new URL("fixtures/shop", import.meta.url));
const packages = ["storefront", "orders"];
/** In how many random orders the tests run. */
const orderCount = Number(process.env["LEDGE_ORDERS"] ?? 1);

function copyShop(): string {
  const { folder } = makeProject({});
  cpSync(fixture, folder, { recursive: true });
  return folder;
}

function ledge(folder: string, ...args: string[]) {
  const cli = join(folder, "node_modules/ledge/dist/cli.js");
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  return { status, out: stdout, error: stderr };
}

/** Starts the dev server of the storefront, and uses every binding. */
async function useStorefront(
  folder: string,
  ...args: string[]
): Promise<(path: string) => Promise<string>> {
  const cli = join(folder, "node_modules/ledge/dist/cli.js");
  const dev = new DevProcess(
    process.execPath,
    [cli, "dev", "--port", "0", "--no-dns", ...args],
    join(folder, "packages/storefront"),
  );
  const url = await dev.url();
  const get = async (path: string): Promise<string> => (await fetch(`${url}/${path}`)).text();
  await fetch(`${url}/photos/trips/sea.png`, { method: "PUT", body: "sea" });
  expect(await get("photos/trips/sea.png")).toBe("sea");
  expect(JSON.parse(await get("photos/"))).toContain("trips/");
  expect(JSON.parse(await get("orders/lamp"))).toMatchObject({ item: "lamp", currency: "EUR" });
  expect(await get("")).toContain("<title>Shop</title>");
  return get;
}

/** The bindings that a deploy would have, as wrangler prints them. */
function deployedBindings(folder: string, name: string, ...args: string[]): string {
  const wrangler = join(folder, "node_modules/wrangler/bin/wrangler.js");
  return execFileSync(
    process.execPath,
    [wrangler, "deploy", "--dry-run", "--outdir", join(folder, "out", name), ...args],
    {
      cwd: join(folder, "packages", name),
      encoding: "utf8",
      stdio: "pipe",
      env: { ...process.env, NO_COLOR: "1", WRANGLER_SEND_METRICS: "false", COLUMNS: "200" },
    },
  );
}

function expectCompleteDeploy(folder: string): void {
  const storefront = deployedBindings(folder, "storefront");
  for (const binding of ["CARTS", "SETTINGS", "ORDERS", "DB", "PHOTOS", "ASSETS", "CURRENCY"]) {
    expect(storefront).toContain(`env.${binding}`);
  }
  expect(storefront).toMatch(/env\.PHOTOS \(shop-photos\) +R2 Bucket/);
  expect(deployedBindings(folder, "storefront", "--env", "staging")).toMatch(
    /env\.PHOTOS \(shop-photos-staging\) +R2 Bucket/,
  );
  const orders = deployedBindings(folder, "orders");
  expect(orders).toMatch(/env\.INVOICES \(shop-invoices\) +R2 Bucket/);
  expect(orders).toContain("env.COUNTERS");
}

describe("a project of wrangler", { timeout: 400_000 }, () => {
  it("runs unedited with adopt, in the dev server and in tests", async () => {
    const folder = copyShop();
    await useStorefront(folder, "--adopt");

    for (const name of packages) {
      const path = join(folder, "packages", name, "vitest.config.ts");
      const text = readFileSync(path, "utf8")
        .replace(/import { cloudflareTest } .*/, 'import { ledge } from "ledge/vitest";')
        .replace("cloudflareTest({", "ledge({ adopt: true,");
      writeFileSync(path, text);
    }
    // The simulator does not isolate tests, so this test would see the objects of the others.
    writeFileSync(
      join(folder, "packages/orders/test/isolation.test.ts"),
      `import { calls, contents } from "ledge/test";
       import { env } from "cloudflare:test";
       import { expect, it } from "vitest";
       it("writes", async () => {
         await env.INVOICES.put("a", "b");
         expect(calls).toHavePut("a", { bucket: "shop-invoices" });
       });
       it("begins empty", async () => expect(await contents(env.INVOICES)).toEqual({}));`,
    );
    const { status, output } = await runVitest(folder);
    expect(output).toContain("7 passed");
    expect(status).toBe(0);
    for (let seed = 1; seed <= orderCount; seed++) {
      const shuffled = await runVitest(folder, ["--sequence.shuffle", `--sequence.seed=${seed}`]);
      expect(shuffled.output).toContain("7 passed");
    }
  });

  it("is edited by init, and runs in the dev server, in tests and in a deploy", async () => {
    const folder = copyShop();
    const read = (path: string): string => readFileSync(join(folder, path), "utf8");
    const storefront = join(folder, "packages/storefront");
    // An object of the simulator, as `wrangler dev` writes it.
    const r2Buckets = [{ binding: "PHOTOS", bucket_name: "shop-photos" }];
    writeFileSync(
      join(folder, "bucket.json"),
      JSON.stringify({ name: "x", r2_buckets: r2Buckets }),
    );
    const simulator = await getPlatformProxy<{ PHOTOS: Pick<StoreBucket, "put"> }>({
      configPath: join(folder, "bucket.json"),
      persist: { path: join(storefront, ".wrangler/state/v3") },
    });
    const metadata = { httpMetadata: { contentType: "image/png" }, customMetadata: { by: "Ada" } };
    await simulator.env.PHOTOS.put("lamps/red.png", "red", metadata);
    await simulator.env.PHOTOS.put("empty", "");
    await simulator.env.PHOTOS.put("large.bin", new Uint8Array(300_000));
    await simulator.dispose();

    const before = read("packages/orders/wrangler.toml");
    // The objects are copied, although there is no terminal to agree to the edits.
    const shown = ledge(folder, "init", "--copy-objects");
    expect(shown.status).toBe(1);
    expect(shown.out).toContain("shop-photos: copied 3 objects.");
    expect(shown.out).toContain("+++ packages/orders/wrangler.toml");
    expect(shown.error).toBe(
      "No file was changed: there is no terminal to ask. Make the changes with --yes.\n",
    );
    expect(read("packages/orders/wrangler.toml")).toBe(before);

    const made = ledge(folder, "init", "--yes", "--copy-objects");
    expect(made).toMatchObject({ status: 0, error: "" });
    expect(made.out).toContain("shop-photos: copied 0 objects. The store has 3 objects already.");
    expect(read("packages/orders/wrangler.toml")).toContain("# kept for ten years");
    expect(read("packages/storefront/wrangler.jsonc")).toContain("// no customers here");
    expect(read("packages/storefront/wrangler.jsonc")).toContain(
      '"$schema": "../../node_modules/ledge/dist/config-schema.json"',
    );
    expect(read("packages/storefront/package.json")).toContain('"dev": "ledge dev --port 8790"');
    expect(read("packages/storefront/package.json")).toContain('"deploy": "wrangler deploy"');
    expect(read("package.json")).toMatch(/"ledge": "\^/);
    expect(read(".gitignore")).toBe("node_modules/\n.wrangler\n.ledge-*\n");
    expect(read("packages/orders/tsconfig.json")).toContain('"ledge/types"');

    const again = ledge(folder, "init", "--copy-objects");
    expect(again).toMatchObject({ status: 0, error: "" });
    expect(again.out).toBe(
      "Nothing to do: the project is set up.\n" +
        "shop-photos: copied 0 objects. The store has 3 objects already.\n",
    );

    const get = await useStorefront(folder);
    expect(await get("photos/lamps/red.png")).toBe("red");

    const { status, output } = await runVitest(folder);
    expect(output).toContain("5 passed");
    expect(status).toBe(0);
    for (const name of packages) {
      const compiler = join(folder, "node_modules/typescript/bin/tsc");
      const project = join(folder, "packages", name);
      const compiled = spawnSync(process.execPath, [compiler, "-p", project], { encoding: "utf8" });
      expect(compiled.stdout).toBe("");
    }
    expectCompleteDeploy(folder);
  });
});
