/** Pages whose JSON is longer than the largest value of SQLite. */
import { expect, it } from "vitest";
import { startStore, temporaryFolder } from "../support/store.ts";
import { worker } from "../support/worker.ts";

/** JSON writes each control character of these keys as six characters. */
const script = `
  export default {
    async fetch(request, { BUCKET }) {
      const keys = Array.from(
        { length: 900 },
        (_, index) => "\\u0001".repeat(1000) + String(index).padStart(4, "0"),
      );
      for (let start = 0; start < 900; start += 100) {
        await Promise.all(keys.slice(start, start + 100).map((key) => BUCKET.put(key, "x")));
      }
      const page = await BUCKET.list();
      const seen = page.objects.map(({ key }) => key);
      const first = await BUCKET.list({ limit: 800 });
      const rest = await BUCKET.list({ cursor: first.cursor });
      return Response.json({
        same: JSON.stringify(seen) === JSON.stringify(keys),
        truncated: page.truncated,
        pages: [first.objects.length, rest.objects.length, rest.truncated],
      });
    },
  };`;

it("list() returns a page of 900 keys of 1000 control characters", async () => {
  const { miniflare } = await startStore(temporaryFolder(), [worker(script)]);
  const response = await miniflare.dispatchFetch("http://script/");
  expect(await response.json()).toEqual({ same: true, truncated: false, pages: [800, 100, false] });
});
