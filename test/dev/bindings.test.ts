/** `ledge dev` with every kind of binding, in two environments; and with DNS. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  waitForAnswer,
  DevServer,
  ledgeDev,
  createProject,
  write,
} from "../support/dev-process.ts";

const script = `
  import { DurableObject } from "cloudflare:workers";

  export class Counter extends DurableObject {
    async increment() {
      const count = ((await this.ctx.storage.get("count")) ?? 0) + 1;
      await this.ctx.storage.put("count", count);
      return count;
    }
  }

  export default {
    async fetch(request: Request, env: any): Promise<Response> {
      await env.PHOTOS.put("cat", "photo of " + env.PLACE);
      await env.VIDEOS.put("cat", "video of " + env.PLACE);
      await env.CACHE.put("key", "cached in " + env.PLACE);
      const counter = env.COUNTERS.get(env.COUNTERS.idFromName("one"));
      return Response.json({
        photo: await (await env.PHOTOS.get("cat")).text(),
        video: await (await env.VIDEOS.get("cat")).text(),
        cached: await env.CACHE.get("key"),
        count: await counter.increment(),
        given: env.GIVEN,
        secret: env.SECRET,
        asset: await (await env.ASSETS.fetch("http://assets/hello.txt")).text(),
      });
    },
  };`;

const bindings = (place: string) => ({
  vars: { PLACE: place, GIVEN: "by the file" },
  kv_namespaces: [{ binding: "CACHE", id: `cache-${place}` }],
  durable_objects: { bindings: [{ name: "COUNTERS", class_name: "Counter" }] },
  store_buckets: [
    { binding: "PHOTOS", bucket_name: `photos-${place}` },
    { binding: "VIDEOS", bucket_name: `videos-${place}`, storage_class: "InfrequentAccess" },
  ],
});

const everything = (): string =>
  createProject({
    "wrangler.jsonc": {
      name: "everything",
      main: "src/index.ts",
      compatibility_date: "2026-08-01",
      assets: { directory: "public", binding: "ASSETS", run_worker_first: ["/worker"] },
      migrations: [{ tag: "v1", new_sqlite_classes: ["Counter"] }],
      ...bindings("here"),
      env: { staging: bindings("there") },
    },
    "src/index.ts": script,
    "public/hello.txt": "hello from the folder",
    ".dev.vars": "SECRET=common",
    ".dev.vars.staging": "SECRET=staged",
  });

const expected = (place: string, secret: string, count: number) => ({
  photo: `photo of ${place}`,
  video: `video of ${place}`,
  cached: `cached in ${place}`,
  count,
  given: "by hand",
  secret,
  asset: "hello from the folder",
});

describe("ledge dev with every kind of binding", { timeout: 180_000 }, () => {
  it("gives the top level and an environment separate state", async () => {
    const folder = everything();
    for (const [place, secret, ...args] of [
      ["here", "common"],
      ["there", "staged", "--env", "staging"],
    ] as [string, string, ...string[]][]) {
      const dev = ledgeDev(folder, "--no-dns", "--var", "GIVEN:by hand", ...args);
      const url = await dev.url();
      expect(await (await fetch(`${url}/hello.txt`)).text()).toBe("hello from the folder");
      expect(await (await fetch(`${url}/worker`)).json()).toEqual(expected(place, secret, 1));
      expect(await (await fetch(`${url}/worker`)).json()).toEqual(expected(place, secret, 2));
      expect(dev.output).toContain(`env.PHOTOS (photos-${place})`);
      expect(dev.output).not.toMatch(/warning|unsafe|unexpected/i);
      expect(await dev.end()).toBe(0);
    }
  });
});

const dnsScript = `
  export default {
    async fetch(request, env) {
      const { pathname, search } = new URL(request.url);
      if (pathname === "/fault") {
        await env.DNS.setFaults([{ path: "/client/v4/zones", status: 503 }]);
        return Response.json("set");
      }
      const { method, body } = request;
      const headers = { "content-type": "application/json" };
      return env.DNS.fetch("http://dns/client/v4" + pathname + search, { method, headers, body });
    },
  };`;

interface Answer {
  readonly result: { readonly id: string; readonly name: string }[];
}

describe("ledge dev with DNS", { timeout: 180_000 }, () => {
  it("binds the script to the zones of the API, also after a reload and a changed table", async () => {
    const table = `
      name = "names"
      main = "src/index.js"
      compatibility_date = "2026-08-01"
      [dns]
      binding = "DNS"
      [[dns.zones]]
      name = "example.com"
    `;
    const folder = createProject({ "wrangler.toml": table, "src/index.js": dnsScript });
    const dev = await DevServer.start(folder);
    const url = await dev.url();
    const [, api] = await dev.waitForOutput(/DNS API +(\S+)/);
    const [, email] = await dev.waitForOutput(/e-mail +(\S+)/);
    const [, key] = await dev.waitForOutput(/key +(\S+)/);
    const credentials = { "x-auth-email": email as string, "x-auth-key": key as string };
    const ask = async (address: string): Promise<Answer> =>
      (await fetch(address, { headers: credentials })).json() as Promise<Answer>;

    // The script sends no credentials: the binding adds the owner's.
    const { result: zones } = (await (await fetch(`${url}/zones`)).json()) as Answer;
    expect(zones.map(({ name }) => name)).toEqual(["example.com"]);
    const records = `/zones/${zones[0]?.id}/dns_records`;
    await fetch(`${url}${records}`, {
      method: "POST",
      body: JSON.stringify({ type: "A", name: "www", content: "192.0.2.2", ttl: 60 }),
    });
    const names = async (address: string): Promise<string[]> =>
      (await ask(address)).result.map(({ name }) => name);
    expect(await names(`${api}${records}`)).toEqual(["www.example.com"]);

    write(join(folder, "src/index.js"), `${dnsScript}\n// saved`);
    await dev.waitForOutput(/^Reloaded\.$/m);
    expect(await names(`${url}${records}`)).toEqual(["www.example.com"]);
    expect(await names(`${api}${records}`)).toEqual(["www.example.com"]);

    await waitForAnswer(`${url}/fault`, "set");
    expect((await fetch(`${api}/zones`, { headers: credentials })).status).toBe(503);

    // A changed table starts DNS again, at the same ports.
    const ports = () => dev.output.match(/(?<=^DNS.*127\.0\.0\.1:)\d+/gm);
    const before = ports();
    const since = dev.output.length;
    write(join(folder, "wrangler.toml"), `${table}[[dns.zones]]\nname = "example.org"\n`);
    await dev.waitForOutput(/The configuration has changed\.\nReady/, since);
    expect((await names(`${url}/zones`)).sort()).toEqual(["example.com", "example.org"]);
    expect(before).toHaveLength(2);
    expect(ports()).toEqual([...(before ?? []), ...(before ?? [])]);
  });
});
