/** Several scripts behind one edge: in one dev server, and in several dev servers of one state folder. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { isEdgeName } from "../../src/edge/node/edge-names.ts";
import { createProject, ledgeDev, waitOptions, write } from "../support/dev-process.ts";
import { hasProc, readProcesses } from "../support/processes.ts";
import { ask, at, startEdge, type EdgeDev } from "./support/dev-edge.ts";

const script = (name: string): string => `export default {
  async fetch(request) {
    const body = request.body === null ? null : await request.text();
    return Response.json({ name: "${name}", url: request.url, body, origin: request.headers.get("origin") });
  },
};`;

function configuration(name: string, rest: object = {}): object {
  const routes = [`${name}.example.com/*`];
  return { name, main: `${name}.js`, compatibility_date: "2026-08-01", routes, ...rest };
}

function project(rest: Readonly<Record<string, object>> = {}): string {
  return createProject({
    "shop.js": script("shop"),
    "pay.js": script("pay"),
    "shop.json": configuration("shop", rest["shop"]),
    "pay.json": configuration("pay", rest["pay"]),
  });
}

async function start(folder: string, name: string, options: object = {}): Promise<EdgeDev> {
  const dev = await startEdge(folder, { configPath: join(folder, `${name}.json`), ...options });
  onTestFinished(() => dev.stop());
  return dev;
}

async function seen(dev: Pick<EdgeDev, "url">, name: string, path = "/"): Promise<unknown> {
  const { status, body } = await ask(at(dev, name, path));
  return status === 200 ? (JSON.parse(body) as object) : { status, body };
}

async function waitFor(dev: EdgeDev, name: string, expected: object): Promise<void> {
  await vi.waitFor(async () => expect(await seen(dev, name)).toMatchObject(expected), waitOptions);
}

describe("several scripts in one dev server", () => {
  it("answer by their routes; the first has its assets, and loopback", async () => {
    const folder = project({ shop: { assets: { directory: "public" } } });
    write(join(folder, "public/page.html"), "asset");
    const dev = await start(folder, "shop", { auxiliaryConfigPaths: [join(folder, "pay.json")] });
    expect(await seen(dev, "shop.example.com.localhost")).toMatchObject({
      name: "shop",
      url: "http://shop.example.com/",
    });
    expect(await seen(dev, "pay.example.com.localhost", "/x")).toMatchObject({
      name: "pay",
      url: "http://pay.example.com/x",
    });
    expect(await seen(dev, "localhost")).toMatchObject({ name: "shop" });
    for (const host of ["shop.example.com.localhost", "localhost"]) {
      expect((await ask(at(dev, host, "/page"))).body).toBe("asset");
    }
    expect(await seen(dev, "pay.example.com.localhost", "/page")).toMatchObject({ name: "pay" });
  });

  it("must not have one route", async () => {
    const folder = project({ pay: { routes: ["shop.example.com/*"] } });
    const starting = start(folder, "shop", { auxiliaryConfigPaths: [join(folder, "pay.json")] });
    await expect(starting).rejects.toThrow(
      'Two have the route shop.example.com/*: the script "shop" and the script "pay".',
    );
  });
});

describe("several dev servers of one state folder", () => {
  it("lead to each other's scripts, also after one was killed and started again", async () => {
    const folder = project();
    const shop = await start(folder, "shop");
    expect(await seen(shop, "pay.example.com.localhost")).toMatchObject({ status: 404 });

    const first = ledgeDev(folder, "-c", "pay.json", "--no-dns", "--no-s3", "--no-explorer");
    const pay = { url: await first.url() };
    await waitFor(shop, "pay.example.com.localhost", {
      name: "pay",
      url: "http://pay.example.com/",
    });
    expect(await seen(pay, "shop.example.com.localhost", "/a?b=c")).toMatchObject({
      name: "shop",
      url: "http://shop.example.com/a?b=c",
    });
    const posted = await ask(at(shop, "pay.example.com.localhost"), {
      method: "POST",
      body: "content",
      headers: { origin: at(shop, "pay.example.com.localhost", "") },
    });
    expect(JSON.parse(posted.body)).toMatchObject({
      body: "content",
      origin: "http://pay.example.com",
    });

    await first.end("SIGKILL");
    await first.processesEnd();
    const missing = await ask(at(shop, "pay.example.com.localhost"));
    expect(missing.status).toBe(521);
    expect(missing.body).toContain(`process ${first.pid} at ${pay.url}, with pay`);

    const second = ledgeDev(folder, "-c", "pay.json", "--no-dns", "--no-s3", "--no-explorer");
    await second.url();
    await waitFor(shop, "pay.example.com.localhost", { name: "pay" });

    await second.end();
    await waitFor(shop, "pay.example.com.localhost", { status: 404 });
    await shop.stop();
    expect(readdirSync(join(folder, ".wrangler/state/v3/edge/members"))).toEqual([]);
  });

  it("are told of a route that another has, and lead the own address to the own script", async () => {
    const folder = project({ pay: { routes: ["shop.example.com/*"] } });
    const shop = await start(folder, "shop");
    const pay = await start(folder, "pay");
    const news = pay.lines.find((line) => line.startsWith("Two have the route")) ?? "";
    expect(news).toContain(`The dev server at ${shop.url} (process ${process.pid}) has the other.`);
    expect(await seen(pay, "shop.example.com.localhost")).toMatchObject({ name: "pay" });
    expect(await seen(shop, "shop.example.com.localhost")).toMatchObject({ name: "shop" });
  });

  it("hear of routes in a configuration that is saved, without a reload of the others", async () => {
    const folder = project();
    const shop = await start(folder, "shop");
    // Dev servers reach each other by https, too.
    await start(folder, "pay", { localProtocol: "https" });
    write(join(folder, "pay.json"), configuration("pay", { routes: ["new.example.com/*"] }));
    const url = "http://new.example.com/";
    await waitFor(shop, "new.example.com.localhost", { name: "pay", url });
    expect(await seen(shop, "pay.example.com.localhost")).toMatchObject({ status: 404 });
    expect(shop.lines.filter((line) => line === "Reloaded.")).toEqual([]);
    expect(existsSync(join(folder, ".wrangler/state/v3/edge/members"))).toBe(true);
  });

  it.skipIf(!hasProc)("know no zones while the owner of the zones is stopped", async () => {
    const folder = project({ pay: { dns: { zones: [{ name: "example.com" }] } } });
    const fetching = `export default {
      fetch: ({ url }) => fetch(new URL(url).searchParams.get("url")).catch(String).then(Response.json),
    };`;
    write(join(folder, "shop.js"), fetching);
    const owner = ledgeDev(folder, "-c", "pay.json", "--no-s3", "--no-explorer");
    await owner.url();
    const shop = await start(folder, "shop");
    const name = "new.example.com.localhost";
    expect(await seen(shop, name)).toMatchObject({ status: 530 });

    const running = () =>
      readProcesses().filter(({ groupId, state }) => groupId === owner.pid && state !== "T");
    process.kill(-owner.pid, "SIGSTOP");
    await vi.waitUntil(() => running().length === 0, waitOptions);
    // No resolver knows the name (RFC 6761 section 6.4).
    const path = `/?url=${encodeURIComponent("http://elsewhere.invalid/")}`;
    expect(await seen(shop, "shop.example.com.localhost", path)).toMatch(/^Error/);
    expect(await seen(shop, name)).toMatchObject({ status: 404 });
    const stateFolder = join(folder, ".wrangler/state");
    expect(await isEdgeName(stateFolder, "new.example.com")).toBe(false);
    expect(running()).toEqual([]);
    process.kill(-owner.pid, "SIGCONT");
    await waitFor(shop, name, { status: 530 });
  });
});
