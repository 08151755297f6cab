/** Scripts and runtimes that share a bucket see each other's writes at once. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { describe, expect, it, vi } from "vitest";
import { ownersRuntime } from "../support/processes.ts";
import { startStore, temporaryFolder } from "../support/store.ts";
import { bucketEntry, worker } from "../support/worker.ts";

const script = `
  export default {
    async fetch(request, { BUCKET }) {
      const { method, args } = await request.json();
      const result = await BUCKET[method](...args);
      return Response.json(result?.body ? await result.text() : (result ?? null));
    },
  };`;

/** Two scripts in two isolates. */
async function startTwo() {
  const store = await startStore(temporaryFolder(), [
    worker(script, { name: "left" }),
    worker(script, { name: "right" }),
  ]);
  const fetchers = {
    left: await store.miniflare.getWorker("left"),
    right: await store.miniflare.getWorker("right"),
  };
  const call = async (name: keyof typeof fetchers, method: string, ...args: unknown[]) => {
    const body = JSON.stringify({ method, args });
    return (await fetchers[name].fetch("http://script/", { method: "POST", body })).json();
  };
  return { store, call };
}

describe("two scripts bound to one bucket", () => {
  it("see each other's writes, and store one of several conditional puts of a key", async () => {
    const { call } = await startTwo();
    for (let round = 0; round < 20; round++) {
      // Values above the inline limit are files, and smaller values are rows.
      const value = `${round} `.repeat(round % 2 === 0 ? 1 : 70_000);
      await call("left", "put", "key", value);
      expect(await call("right", "get", "key")).toBe(value);
      await call("right", "delete", "key");
      expect(await call("left", "head", "key")).toBeNull();
    }
    for (let round = 0; round < 20; round++) {
      const onlyIf = { etagDoesNotMatch: "*" };
      const won = await Promise.all(
        (["left", "right", "left", "right"] as const).map((name) =>
          call(name, "put", `race-${round}`, name, { onlyIf }),
        ),
      );
      expect(won.filter((object) => object !== null)).toHaveLength(1);
    }
  });

  it("read a whole object while another call replaces it", async () => {
    // Calls of one turn are one batch: the file is removed before the reader learns its name.
    const replacing = `
      export default {
        async fetch(request, { BUCKET }) {
          const large = "large ".repeat(50000);
          const read = async () => (await BUCKET.get("key"))?.text() ?? null;
          const upload = await BUCKET.createMultipartUpload("key");
          const part = await upload.uploadPart(1, "small");
          await BUCKET.put("key", large);
          const [replaced] = await Promise.all([read(), upload.complete([part])]);
          await BUCKET.put("key", large);
          const [deleted] = await Promise.all([read(), BUCKET.delete("key")]);
          return Response.json([replaced, deleted]);
        },
      };`;
    const { miniflare } = await startStore(temporaryFolder(), [worker(replacing)]);
    const response = await miniflare.dispatchFetch("http://script/");
    expect(await response.json()).toEqual(["small", null]);
  });

  it("do not see the objects of another bucket", async () => {
    const store = await startStore(temporaryFolder(), [
      worker("export default {};", { env: { OTHER: bucketEntry({ bucket_name: "Photos" }) } }),
    ]);
    const { OTHER } = await store.miniflare.getBindings<{ OTHER: typeof store.bucket }>();
    await store.bucket.put("key", "photos");
    expect(await OTHER.head("key")).toBeNull();
  });
});

describe("a bucket in a Durable Object", () => {
  it("works as in a script", async () => {
    const objectScript = `
      import { DurableObject } from "cloudflare:workers";
      export class Thing extends DurableObject {
        async fetch(request) {
          await this.env.BUCKET.put("key", request.body);
          return new Response((await this.env.BUCKET.get("key")).body);
        }
      }
      export default {
        fetch: (request, env) => env.THING.getByName("one").fetch(request),
      };`;
    const { config } = worker(objectScript);
    const { miniflare } = await startStore(temporaryFolder(), [
      {
        config: {
          ...config,
          env: {
            ...config.env,
            THING: { type: "durable-object", worker: "script", exportName: "Thing" },
          } as unknown as typeof config.env,
          exports: { Thing: { type: "durable-object", storage: "sqlite" } },
        } as typeof config,
      },
    ]);
    const body = new TextEncoder().encode("streamed ".repeat(50_000));
    const response = await miniflare.dispatchFetch("http://script/", {
      method: "POST",
      body,
      headers: { "content-length": String(body.length) },
    });
    expect(await response.text()).toBe("streamed ".repeat(50_000));
  });
});

describe("two runtimes on one folder", () => {
  it("share their buckets when they start at the same time", async () => {
    const folder = temporaryFolder();
    // Two processes cannot create Miniflare's cache at the same time: they fail without buckets too.
    const { config } = worker("export default {};");
    const workers = [{ config: { ...config, env: {} } }];
    const first = new Miniflare({ resourcePersistencePath: folder, workers });
    await first.ready;
    await first.dispose();
    const stores = await Promise.all([startStore(folder), startStore(folder)]);
    const [left, right] = stores;
    await Promise.all(
      stores.map(async ({ bucket }, side) => {
        for (let n = 0; n < 40; n++) {
          // Values above the inline limit are files, and smaller values are rows.
          await bucket.put(`${side}/${n}`, `${n} `.repeat(n % 4 === 0 ? 70_000 : 10));
        }
      }),
    );
    for (const { bucket } of stores) {
      expect((await bucket.list()).objects).toHaveLength(80);
      expect(await (await bucket.get("0/4"))?.text()).toBe("4 ".repeat(70_000));
    }
    const onlyIf = { etagDoesNotMatch: "*" };
    const won = await Promise.all(stores.map(({ bucket }) => bucket.put("race", "x", { onlyIf })));
    expect(won.filter((object) => object !== null)).toHaveLength(1);
    await left.bucket.delete("race");
    expect(await right.bucket.head("race")).toBeNull();
  });
});

/** Process id of the folder's runtime. The owner removes the previous run record at start. */
function runtimeOf(folder: string): Promise<number> {
  return vi.waitFor(() => {
    expect(readdirSync(join(folder, "store", "runs"))).toHaveLength(1);
    const runtime = ownersRuntime(join(folder, "store"));
    expect(runtime).toBeDefined();
    return runtime!.processId;
  }, 60_000);
}

describe("two runtimes of one process", () => {
  it("hold the marks of their folders, also after a reload", async () => {
    const folders = [temporaryFolder(), temporaryFolder()];
    const stores = await Promise.all(folders.map((folder) => startStore(folder)));
    const runtimes = await Promise.all(folders.map(runtimeOf));
    expect(new Set(runtimes).size).toBe(2);
    await Promise.all(
      stores.map(({ miniflare }, index) =>
        miniflare.setOptions({
          resourcePersistencePath: folders[index],
          workers: [worker("export default { edited: true };")],
        }),
      ),
    );
    const next = await Promise.all(folders.map(runtimeOf));
    expect(new Set([...runtimes, ...next]).size).toBe(4);
  });
});

describe("the endpoint of a runtime", () => {
  it("is a socket in a folder that other users cannot enter", async () => {
    const folder = join(temporaryFolder(), "state");
    const { bucket } = await startStore(folder);
    await bucket.put("key", "value");
    const sockets = join(folder, "store", "sockets");
    expect(statSync(sockets).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "store")).mode & 0o777).toBe(0o700);
    expect(statSync(join(sockets, "endpoint")).isSocket()).toBe(true);
  });

  it("is reached by a link where the path of the state is too long for a socket", async () => {
    const folder = join(temporaryFolder(), "long".repeat(30));
    const owner = await startStore(folder);
    const client = await startStore(folder);
    await owner.bucket.put("key", "value");
    expect(await (await client.bucket.get("key"))?.text()).toBe("value");
    expect(statSync(join(folder, "store", "sockets", "endpoint")).isSocket()).toBe(true);
  });
});

describe("a client whose owner ends", () => {
  it("goes on, and lets a runtime that starts later be the owner", async () => {
    const folder = temporaryFolder();
    const owner = await startStore(folder);
    const client = await startStore(folder);
    await owner.bucket.put("key", "of the owner");
    await owner.stop();
    expect(await (await client.bucket.get("key"))?.text()).toBe("of the owner");
    await client.bucket.put("key", "of the client");
    const next = await startStore(folder);
    expect(await (await next.bucket.get("key"))?.text()).toBe("of the client");
    await next.bucket.put("key", "of the next owner");
    expect(await (await client.bucket.get("key"))?.text()).toBe("of the next owner");
    expect(ownerIsBrief(folder)).toBe(false);
  });

  it("is the owner itself after its next reload", async () => {
    const folder = temporaryFolder();
    const owner = await startStore(folder);
    const client = await startStore(folder);
    await owner.stop();
    await client.bucket.put("key", "value");
    expect(ownerIsBrief(folder)).toBe(true);
    await client.miniflare.setOptions({
      resourcePersistencePath: folder,
      workers: [worker("export default { edited: true };")],
    });
    const { BUCKET } = await client.miniflare.getBindings<{ BUCKET: typeof client.bucket }>();
    expect(await (await BUCKET.get("key"))?.text()).toBe("value");
    expect(ownerIsBrief(folder)).toBe(false);
  });
});

function ownerIsBrief(folder: string): boolean {
  const record = readFileSync(join(folder, "store", "owner.json"), "utf8");
  return (JSON.parse(record) as { isBrief: boolean }).isBrief;
}
