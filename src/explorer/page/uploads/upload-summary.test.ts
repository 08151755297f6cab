import { describe, expect, it } from "vitest";
import { noneFinished, withDone, withSkipped } from "./finished-uploads.ts";
import { UploadItem, type UploadState } from "./upload-item.ts";
import { activeFiles, announce, summarize } from "./upload-summary.ts";

let nextId = 1;
function item(state: UploadState, size = 10): UploadItem {
  const id = nextId++;
  const name = `${id}`;
  const made = new UploadItem({
    id,
    bucket: "b",
    key: name,
    name,
    size,
    lastModified: 0,
    file: null,
  });
  made.state = state;
  return made;
}

const idle = { finished: noneFinished, isAway: false, bytesPerSecond: null };

describe("summarize()", () => {
  it("shows the files that need a person first, and counts the rest", () => {
    const items = [
      ...Array.from({ length: 10_000 }, () => item("queued")),
      item("uploading"),
      item("failed"),
    ];
    const { rows, hidden, counts, files, bytes } = summarize({ ...idle, items });
    expect(rows.slice(0, 3).map(({ state }) => state)).toEqual(["failed", "uploading", "queued"]);
    expect(rows.length).toBeLessThan(50);
    expect(rows.length + hidden).toBe(10_002);
    expect(counts).toMatchObject({ queued: 10_000, failed: 1 });
    expect([files, bytes]).toEqual([10_002, 100_020]);
  });

  it("counts files that are done, and shows the last of them", () => {
    let finished = noneFinished;
    for (let count = 0; count < 5; count++) finished = withDone(finished, item("done", 100));
    const { rows, doneFiles, files, sentBytes, skippedFiles } = summarize({
      ...idle,
      items: [item("queued")],
      finished: withSkipped(finished),
    });
    expect(rows.map(({ state }) => state)).toEqual(["queued", "done", "done", "done"]);
    expect([doneFiles, files, sentBytes, skippedFiles]).toEqual([5, 6, 500, 1]);
  });
});

describe("announce()", () => {
  it("says what happens, without percents", () => {
    const items = [item("uploading"), item("queued"), item("exists"), item("failed")];
    const summary = summarize({ ...idle, items });
    expect(activeFiles(summary)).toBe(2);
    expect(announce(summary)).toBe("Uploading 4 files. 1 file waits for you. 1 file failed.");
  });

  it("says that uploads wait for the explorer, and that all are done", () => {
    const away = summarize({ ...idle, items: [item("uploading")], isAway: true });
    expect(announce(away)).toBe("Uploads wait for the explorer, which does not answer.");
    const done = summarize({ ...idle, items: [], finished: withDone(noneFinished, item("done")) });
    expect(announce(done)).toBe("1 file uploaded.");
    expect(announce(summarize({ ...idle, items: [] }))).toBe("");
    const many = { ...noneFinished, files: 12_345 };
    expect(announce(summarize({ ...idle, items: [], finished: many }))).toBe(
      "12,345 files uploaded.",
    );
  });
});
