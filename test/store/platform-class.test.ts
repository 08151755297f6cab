/**
 * The classes of the binding beside the platform's own: Miniflare's R2 binding in the same runtime is
 * the class that deployed scripts use. Every difference is named here, and stands in
 * `docs/deviations.md`.
 */
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { isDeepStrictEqual } from "node:util";
import { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bucketEntry } from "../support/worker.ts";
import { cases } from "./support/platform-cases.ts";

type CaseName = keyof typeof cases;

/** What Ledge does in the cases in which it differs. */
const differences: Partial<Record<CaseName, unknown>> = {
  "checksums in a list can be spread": { value: null },
  "fields cannot be replaced": { value: Array.from({ length: 11 }, () => "assigned") },
  "structuredClone() refuses an object": { value: 5 },
  "structuredClone() refuses an upload": { value: "a" },
  "structuredClone() refuses a bucket": { value: [] },
  "conditions compare dates before 1970": { value: true },
  "an Expires header may name any year": { value: Date.UTC(2300, 0) },
};

const casesFile = new URL("support/platform-cases.ts", import.meta.url);

const script = `
  import { env } from "cloudflare:workers";
  import { cases } from "cases.mjs";

  async function outcome(use) {
    try {
      return { value: await use() };
    } catch ({ name, message }) {
      return { error: { name, message } };
    }
  }

  const uses = {
    head: (bucket) => bucket.head("a"),
    get: (bucket) => bucket.get("a"),
    "put of text": (bucket) => bucket.put("a", "x"),
    "put of a large value": (bucket) => bucket.put("a", new Uint8Array(200_000)),
    delete: (bucket) => bucket.delete("a"),
    list: (bucket) => bucket.list(),
    createMultipartUpload: (bucket) => bucket.createMultipartUpload("a"),
    abort: (bucket) => bucket.resumeMultipartUpload("a", "b").abort(),
  };
  const names = ["OURS", "PLATFORM"];
  const inGlobalScope = names.map((name) =>
    Object.values(uses).map((use) => outcome(() => use(env[name]))),
  );

  export default {
    async fetch(request) {
      const name = await request.text();
      if (name !== "global scope") {
        return Response.json(
          await Promise.all(names.map((each) => outcome(() => cases[name](env[each])))),
        );
      }
      return Response.json(await Promise.all(inGlobalScope.map((each) => Promise.all(each))));
    },
  };`;

let miniflare: Miniflare;

beforeAll(() => {
  const source = stripTypeScriptTypes(readFileSync(casesFile, "utf8"));
  miniflare = new Miniflare({
    workers: [
      {
        config: {
          name: "script",
          compatibilityDate: "2026-08-01",
          compatibilityFlags: ["nodejs_compat"],
          manifest: {
            mainModule: "index.mjs",
            modules: {
              "index.mjs": { type: "esm", contents: script },
              "cases.mjs": { type: "esm", contents: source },
            },
          },
          env: { OURS: bucketEntry({ bucket_name: "ours" }), PLATFORM: { type: "r2", name: "r2" } },
        },
      },
    ],
  });
});

afterAll(() => miniflare.dispose());

async function run(name: string): Promise<unknown[]> {
  const response = await miniflare.dispatchFetch("http://script/", { method: "POST", body: name });
  return (await response.json()) as unknown[];
}

describe("StoreBucket, beside the platform's class", () => {
  it.each(Object.keys(cases) as CaseName[])("%s", async (name) => {
    const [ours, platform] = await run(name);
    const expected = differences[name] ?? platform;
    expect(ours).toEqual(expected);
    expect(isDeepStrictEqual(platform, expected)).toBe(!(name in differences));
  });

  it("a call in global scope has the platform's error", async () => {
    const [ours, platform] = (await run("global scope")) as { error?: { message: string } }[][];
    expect(ours).toEqual(platform);
    for (const { error } of ours!) {
      expect(error?.message).toMatch(/^Disallowed operation called within global scope\./);
    }
  });
});
