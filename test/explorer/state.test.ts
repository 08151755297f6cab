/** The HTTP control of the state, as a program uses it that knows the state folder: without a dev server. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BucketCalls } from "./support/bucket-calls.ts";
import { useExplorer } from "./support/explorer.ts";

const used = useExplorer({ buckets: ["photos"] });
const photos = new BucketCalls(used, "photos");

/** A request with the token of the state folder, and without the cookie and the path of the page. */
async function control(method: string, path: string, body?: object): Promise<unknown> {
  const token = readFileSync(join(used.stateFolder, "v3", "explorer", "token"), "utf8").trim();
  const response = await fetch(`${used.origin}/api/state${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return response.json();
}

describe("the HTTP control", () => {
  it("saves and restores while the explorer serves the buckets", async () => {
    await photos.put("kept");
    await photos.put("changed", "one");
    expect(await control("POST", "/save", { name: "base" })).toMatchObject({ name: "base" });
    await photos.put("changed", "second");
    await photos.put("added");
    expect(await control("GET", "/diff?from=base")).toEqual({
      changes: expect.arrayContaining([
        { kind: "bucket", place: "photos", what: "key added", change: "added" },
        { kind: "bucket", place: "photos", what: "key changed", change: "changed" },
      ]),
    });
    const { undo } = (await control("POST", "/restore", { name: "base" })) as { undo: string };
    expect(await photos.keys("")).toEqual(["changed", "kept"]);
    expect(await photos.head("changed")).toMatchObject({ size: 3 });
    expect(await control("GET", "")).toMatchObject({
      states: [
        { name: undo, isAutomatic: true },
        { name: "base", isAutomatic: false },
      ],
    });
    await control("POST", "/restore", { name: undo });
    expect(await photos.keys("")).toEqual(["added", "changed", "kept"]);
  });

  it("refuses with a sentence", async () => {
    await control("POST", "/save", { name: "twice" });
    for (const [answer, sentence] of [
      [await control("POST", "/save", { name: "twice" }), /twice/],
      [await control("POST", "/restore", { name: "absent" }), /absent/],
      [await control("DELETE", "/absent"), /absent/],
    ] as const) {
      expect(answer).toEqual({ message: expect.stringMatching(sentence) });
    }
    expect(await control("DELETE", "/twice")).toBe(null);
  });
});
