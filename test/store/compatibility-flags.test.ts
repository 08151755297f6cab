/** Effects of a script's compatibility date and flags. */
import { Miniflare } from "miniflare";
import { describe, expect, it } from "vitest";
import { startStore, temporaryFolder } from "../support/store.ts";
import { bucketEntry, worker } from "../support/worker.ts";

const script = `
  export default {
    async fetch(request, { BUCKET }) {
      await BUCKET.put("a/b", "x", {
        httpMetadata: { contentType: "text/plain" },
        customMetadata: { n: "1" },
      });
      const { objects: [{ httpMetadata, customMetadata }] } = await BUCKET.list({ include: [] });
      const { delimitedPrefixes } = await BUCKET.list({ delimiter: "/" });
      let thrown = "synchronously";
      try {
        await BUCKET.head().catch(() => (thrown = "as a rejection"));
      } catch {}
      return Response.json({ httpMetadata, customMetadata, delimitedPrefixes, thrown });
    },
  };`;

const both = { httpMetadata: { contentType: "text/plain" }, customMetadata: { n: "1" } };

const cases: [date: string, flags: string[], expected: Record<string, unknown>][] = [
  ["2022-08-03", [], { ...both, delimitedPrefixes: ["a"], thrown: "synchronously" }],
  [
    "2022-08-03",
    ["store_list_honor_include"],
    { delimitedPrefixes: ["a"], thrown: "synchronously" },
  ],
  ["2022-08-04", [], { delimitedPrefixes: ["a"], thrown: "synchronously" }],
  ["2022-10-31", [], { delimitedPrefixes: ["a"], thrown: "as a rejection" }],
  [
    "2022-08-04",
    ["capture_async_api_throws"],
    { delimitedPrefixes: ["a"], thrown: "as a rejection" },
  ],
  [
    "2026-08-01",
    ["store_list_trailing_delimiter", "nodejs_compat"],
    { delimitedPrefixes: ["a/"], thrown: "as a rejection" },
  ],
];

/** New options for each start: the plugin removes its flags from the options it gets. */
const trailing = () => [worker(script, { flags: ["store_list_trailing_delimiter"] })];

describe("a script", () => {
  it("behaves as its date and its flags say", async () => {
    const workers = cases.map(([date, flags], index) =>
      worker(script, { name: `script-${index}`, date, flags }),
    );
    const { miniflare } = await startStore(temporaryFolder(), workers);
    for (const [index, [date, flags, expected]] of cases.entries()) {
      const fetcher = await miniflare.getWorker(`script-${index}`);
      const answer = await (await fetcher.fetch("http://script/")).json();
      expect(answer, `${date} ${flags.join(" ")}`).toEqual(expected);
    }
  });

  it("keeps its flags and its objects when the runtime reloads", async () => {
    const folder = temporaryFolder();
    const { miniflare } = await startStore(folder, trailing());
    await miniflare.dispatchFetch("http://script/");
    await miniflare.setOptions({ resourcePersistencePath: folder, workers: trailing() });
    const { BUCKET } = await miniflare.getBindings<{
      BUCKET: { list(options: object): Promise<{ delimitedPrefixes: string[] }> };
    }>();
    expect((await BUCKET.list({ delimiter: "/" })).delimitedPrefixes).toEqual(["a/"]);
  });

  it.each([
    [
      { flags: ["store_list_honour_include"] },
      /Unknown compatibility flag "store_list_honour_incl/,
    ],
    [{ env: { B: bucketEntry({}) } }, /Store bucket "B": bucket_name is missing/],
    [{ env: { B: bucketEntry({ bucket_name: "../x" }) } }, /bucket_name "..\/x" is not a valid/],
    [
      { env: { B: bucketEntry({ bucket_name: "b", storage_class: "Cold" }) } },
      /storage_class must be .*, not "Cold"/,
    ],
  ])("does not start with a mistake in its options: %j", async (options, message) => {
    const miniflare = new Miniflare({ workers: [worker(script, options)] });
    await expect(miniflare.ready).rejects.toThrow(message);
    await miniflare.dispose().catch(() => {});
  });
});
