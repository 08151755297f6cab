/**
 * Scripts that end their own turn while a call of a bucket is not sent yet: `abort()` and `process.exit()` drop
 * the microtasks of the isolate. Other turns in this isolate can call the bucket afterwards.
 */
import { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { worker } from "../support/worker.ts";

const script = `
  import { DurableObject } from "cloudflare:workers";
  import process from "node:process";

  const calls = {
    get: (bucket) => bucket.get("kept"),
    put: (bucket) => bucket.put("written", "by the aborted turn"),
    "a put of a file": (bucket) => bucket.put("written", new Uint8Array(200_000)),
    "several calls": (bucket) => [
      bucket.put("written", "by the aborted turn"),
      bucket.get("kept"),
      bucket.list(),
      bucket.delete("other"),
    ],
    "calls in several microtasks": async (bucket) => {
      for (let count = 0; count < 20; count++) {
        void bucket.head("kept");
        await null;
      }
    },
  };

  const aborts = {
    "abort()": (ctx) => ctx.abort(),
    "process.exit()": () => process.exit(),
  };

  async function abortTurn(ctx, { BUCKET }, { call, abort, microtasks }) {
    void calls[call](BUCKET);
    for (let count = 0; count < microtasks; count++) await null;
    aborts[abort](ctx);
  }

  /** A write and reads in one turn, and a read in a later one. */
  async function useBucket({ BUCKET }, value) {
    const [, kept, list] = await Promise.all([
      BUCKET.put("written", value),
      BUCKET.get("kept").then((object) => object.text()),
      BUCKET.list(),
    ]);
    const written = await BUCKET.get("written");
    return { kept, keys: list.objects.map(({ key }) => key), written: await written.text() };
  }

  /** Reads in turns of their own, and several in a turn. */
  async function readOften({ BUCKET }) {
    const found = new Set();
    for (let turn = 0; turn < 10; turn++) {
      const objects = Array.from({ length: 5 }, async (_, pause) => {
        for (let count = 0; count < pause; count++) await null;
        const object = await BUCKET.get("kept");
        return object.text();
      });
      for (const text of await Promise.all(objects)) found.add(text);
    }
    return [...found];
  }

  export class Thing extends DurableObject {
    abortTurn(request) {
      return abortTurn(this.ctx, this.env, request);
    }
    useBucket(value) {
      return useBucket(this.env, value);
    }
  }

  export default {
    async fetch(request, env, ctx) {
      const { use, ...aborted } = await request.json();
      if (use === "seed") {
        for (const key of ["kept", "written"]) await env.BUCKET.put(key, key);
      } else if (use === "often") return Response.json(await readOften(env));
      else if (use === "worker") return Response.json(await useBucket(env, "by the script"));
      else if (use === "object") {
        return Response.json(await env.THING.getByName("other").useBucket("by an object"));
      } else if (aborted.by === "script") await abortTurn(ctx, env, aborted);
      else await env.THING.getByName("aborted").abortTurn(aborted);
      return new Response();
    },
  };`;

let miniflare: Miniflare;

function ask(request: object): ReturnType<Miniflare["dispatchFetch"]> {
  const body = JSON.stringify(request);
  return miniflare.dispatchFetch("http://script/", { method: "POST", body });
}

beforeAll(async () => {
  const { config } = worker(script, { flags: ["nodejs_compat"] });
  miniflare = new Miniflare({
    workers: [
      {
        config: {
          ...config,
          env: {
            ...config.env,
            THING: { type: "durable-object", worker: "script", exportName: "Thing" },
          },
          exports: { Thing: { type: "durable-object", storage: "sqlite" } },
        },
      },
    ],
  });
  await ask({ use: "seed" });
});

afterAll(() => miniflare.dispose());

const calls = ["get", "put", "a put of a file", "several calls", "calls in several microtasks"];

describe("a bucket", () => {
  it.each(
    ["script", "object"].flatMap((by) =>
      ["abort()", "process.exit()"].flatMap((abort) => calls.map((call) => [by, abort, call])),
    ),
  )(
    "answers other turns after a turn of the %s ends by %s, 0 to 10 microtasks after %s",
    async (by, abort, call) => {
      for (let microtasks = 0; microtasks <= 10; microtasks++) {
        const aborted = await ask({ by, abort, call, microtasks });
        expect(aborted.ok, `${microtasks} microtasks`).toBe(false);
        for (const [use, written] of [
          ["worker", "by the script"],
          ["object", "by an object"],
        ]) {
          const answer = await ask({ use });
          const found = answer.ok ? await answer.json() : await answer.text();
          const expected = { kept: "kept", keys: ["kept", "written"], written };
          expect(found, `${microtasks} microtasks`).toEqual(expected);
        }
      }
    },
  );

  it("loses no call of the requests that run while turns end", async () => {
    const ending = Array.from({ length: 60 }, (_, index) => ({
      by: index % 2 === 0 ? "script" : "object",
      abort: index % 3 === 0 ? "process.exit()" : "abort()",
      call: calls[index % calls.length],
      microtasks: index % 8,
    }));
    const [answers] = await Promise.all([
      Promise.all(Array.from({ length: 12 }, async () => (await ask({ use: "often" })).json())),
      Promise.all(ending.map(ask)),
    ]);
    expect(answers).toEqual(answers.map(() => ["kept"]));
  });
});
