import { env, exports } from "cloudflare:workers";
import { afterAll, beforeAll, expect, describe, it } from "vitest";

interface Page {
  folders: string[];
  photos: { key: string; url: string; contentType: string }[];
  cursor?: string;
}

const keys = ["a.png", "b.png", "trips/2025/sea.jpg", "trips/2026/alps.jpg", "trips/map.png"];

const list = (query: string) => exports.default.fetch(`http://photos.test/photos?${query}`);
const page = async (query: string) => (await list(query)).json<Page>();

beforeAll(async () => {
  await Promise.all(
    keys.map((key) => env.PHOTOS.put(key, key, { httpMetadata: { contentType: "image/png" } })),
  );
});
afterAll(() => env.PHOTOS.delete(keys));

describe("GET /photos", () => {
  it("lists the folders and photos of one folder", async () => {
    const top = await page("");
    expect(top.folders).toEqual(["trips/"]);
    expect(top.photos.map(({ key }) => key)).toEqual(["a.png", "b.png"]);

    const trips = await page("prefix=trips/");
    expect(trips.folders).toEqual(["trips/2025/", "trips/2026/"]);
    expect(trips.photos).toMatchObject([
      { key: "trips/map.png", url: "/photos/trips/map.png", contentType: "image/png" },
    ]);
  });

  it("returns each name once across pages", async () => {
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const next = await page(`limit=1${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
      names.push(...next.folders, ...next.photos.map(({ key }) => key));
      cursor = next.cursor;
    } while (cursor !== undefined);
    expect(names).toEqual(["a.png", "b.png", "trips/"]);
  });

  it.each(["limit=0", "limit=1001", "limit=many", "cursor=made-up"])(
    "refuses %s",
    async (query) => {
      const response = await list(query);
      expect(response.status).toBe(400);
      expect(await response.json()).toHaveProperty("error");
    },
  );
});
