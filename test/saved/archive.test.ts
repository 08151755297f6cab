/** A state as a file: from one project to another, and files that are no whole export. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { packageVersion } from "../../src/base/package-version.ts";
import { exportState, importState } from "../../src/saved/archive.ts";
import { FolderState } from "../../src/saved/folder-state.ts";
import { SavedStates } from "../../src/saved/saved-states.ts";
import { writeTar, type TarMember } from "../../src/saved/tar.ts";
import { run } from "../support/project.ts";
import { createStateProject, firstSteps, startStateDev } from "../support/state-project.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const stateFolder = ".wrangler/state";

it("a state that was exported is the same in a fresh project, in a state folder of another name", async () => {
  const folder = createStateProject();
  const dev = await startStateDev(folder);
  await dev.run(...firstSteps);
  await run(folder, "ledge", "dns", "add", "example.com", "www", "A", "192.0.2.1");
  const expected = await dev.run(["read"]);
  const file = join(folder, "today.tar.zst");
  await exportState(join(folder, stateFolder), null, file);
  await dev.stop();
  expect(new SavedStates(join(folder, stateFolder)).list()).toEqual([]);

  const other = createStateProject();
  const otherFolder = join(other, "elsewhere");
  const imported = await importState(otherFolder, file);
  expect(imported).toMatchObject({ name: "today", isAutomatic: false });
  await new FolderState(otherFolder).restore("today");
  const persist = ["--persist-to", "elsewhere"];
  const check = await run(other, "ledge", "store", "check", ...persist);
  expect(check).toMatchObject({ code: 0, out: expect.stringContaining("photos: 2 objects") });
  const records = await run(other, "ledge", "dns", "list", "example.com", ...persist);
  expect(records).toMatchObject({ code: 0, out: expect.stringContaining("192.0.2.1") });
  const second = await startStateDev(other, { persistTo: otherFolder });
  expect(await second.run(["read"])).toEqual(expected);
});

/** A folder with a saved state, whose files no runtime has written, and an export of the state. */
async function exported(): Promise<{ readonly folder: string; readonly file: string }> {
  const folder = temporaryFolder({
    "v3/kv/sessions/blobs/1": "one",
    "v3/kv/sessions/blobs/2": Array.from({ length: 300_000 }, (_, index) => index * index).join(
      " ",
    ),
  });
  await new SavedStates(folder).save("clean");
  const file = join(folder, "clean.tar");
  await exportState(folder, "clean", file);
  return { folder, file };
}

describe("exportState()", () => {
  it("writes a file that tar and sha256sum of the system verify", async () => {
    const { folder, file } = await exported();
    expect(readdirSync(folder).filter((name) => name.startsWith("clean"))).toEqual(["clean.tar"]);
    const tar = zlib.zstdDecompressSync(readFileSync(file));
    const unpacked = join(folder, "unpacked");
    mkdirSync(unpacked);
    const listed = execFileSync("tar", ["-xvf", "-", "-C", unpacked], { input: tar }).toString();
    expect(listed.trim().split("\n")).toEqual([
      "ledge-state.json",
      "v3/kv/sessions/blobs/1",
      "v3/kv/sessions/blobs/2",
      "checksums.sha256",
    ]);
    const sums = execFileSync("sha256sum", ["-c", "checksums.sha256"], { cwd: unpacked });
    expect(sums.toString().trim().split("\n")).toEqual([
      "v3/kv/sessions/blobs/1: OK",
      "v3/kv/sessions/blobs/2: OK",
    ]);
  });

  it("leaves the file that was there when it is interrupted", async () => {
    const { folder, file } = await exported();
    writeFileSync(file, "before");
    const stop = new AbortController();
    const onProgress = (): void => stop.abort();
    await expect(
      exportState(folder, "clean", file, { onProgress, signal: stop.signal }),
    ).rejects.toThrow("aborted");
    expect(readFileSync(file, "utf8")).toBe("before");
    expect(readdirSync(folder).filter((name) => name.startsWith("clean"))).toEqual(["clean.tar"]);
  });
});

function textMember(path: string, text: string): TarMember {
  return { path, size: Buffer.byteLength(text), content: [Buffer.from(text)] };
}

/** The error of an import into a folder of its own, in which nothing is left. */
async function refusalOf(file: string, name?: string): Promise<string> {
  const folder = temporaryFolder();
  const message = await importState(folder, file, name).then(
    () => "imported",
    (error: Error) => error.message,
  );
  const left = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && !each.name.endsWith("lock"))
    .map((each) => each.name);
  expect(left).toEqual([]);
  return message;
}

describe("importState()", () => {
  it.each(["zstd", "gzip", "tar"])("reads what %s has written", async (form) => {
    const { folder, file } = await exported();
    const tar = zlib.zstdDecompressSync(readFileSync(file));
    if (form !== "zstd") writeFileSync(file, form === "gzip" ? zlib.gzipSync(tar) : tar);
    const imported = await importState(folder, file, "theirs");
    const original = new SavedStates(folder).list().find(({ name }) => name === "clean");
    expect(imported).toMatchObject({ name: "theirs", bytes: original?.bytes });
  });

  it("refuses a file that is cut anywhere, whatever compresses it", async () => {
    const { file } = await exported();
    const whole = readFileSync(file);
    const tar = zlib.zstdDecompressSync(whole);
    for (const bytes of [whole, zlib.gzipSync(tar), tar]) {
      for (const share of [0.3, 0.9, 1]) {
        writeFileSync(file, bytes.subarray(0, Math.floor(bytes.length * share) - 1100));
        expect(await refusalOf(file)).toContain("Nothing was imported. Copy the file again");
      }
      writeFileSync(file, bytes.subarray(0, 2));
      expect(await refusalOf(file)).toContain(
        "is no export of Ledge, or its beginning is missing.",
      );
    }
  });

  it("refuses a file with a changed byte", async () => {
    const { file } = await exported();
    const tar = zlib.zstdDecompressSync(readFileSync(file));
    const changed = Buffer.from(tar);
    changed[changed.indexOf("one")] = "O".charCodeAt(0);
    writeFileSync(file, changed);
    expect(await refusalOf(file)).toContain("is damaged: a checksum differs.");
    const compressed = zlib.gzipSync(tar);
    compressed[compressed.length >> 1] = (compressed[compressed.length >> 1] ?? 0) ^ 1;
    writeFileSync(file, compressed);
    expect(await refusalOf(file)).toContain("is damaged");
  });

  it("refuses what is no export", async () => {
    const folder = temporaryFolder({ "photo.jpg": "no tar file ".repeat(100), empty: "" });
    expect(await refusalOf(join(folder, "photo.jpg"))).toContain("is no export of Ledge");
    expect(await refusalOf(join(folder, "empty"))).toContain("is no export of Ledge");
    execFileSync("tar", ["-czf", "other.tgz", "photo.jpg"], { cwd: folder });
    expect(await refusalOf(join(folder, "other.tgz"))).toContain("is no export of Ledge");
  });

  const description = { format: 1, ledge: packageVersion(), name: "crafted", savedAt: "" };
  it.each([
    [{ ...description, format: 2, ledge: "9.0.0" }, [], "has format 2, which Ledge 9.0.0 writes."],
    [description, ["v3/../../outside"], "leads out of the state"],
    [description, ["/v3/kv/a"], "leads out of the state"],
    [description, ["v3/kv//a"], "leads out of the state"],
    [description, ["saved/other/state.json"], "leads out of the state"],
    [description, ["v3/kv/a", "v3/kv/a"], "EEXIST"],
    [description, ["v3/kv/a"], "the file is cut"],
  ])("refuses %j with %j", async (first, paths, message) => {
    const members = [
      textMember("ledge-state.json", JSON.stringify(first)),
      ...paths.map((path) => textMember(path, "x")),
    ];
    const chunks = [];
    for await (const chunk of writeTar(members)) chunks.push(chunk);
    const file = join(temporaryFolder(), "crafted.tar");
    writeFileSync(file, Buffer.concat(chunks));
    expect(await refusalOf(file)).toContain(message);
  });

  it("refuses the name of a saved state, and a name that cannot be one", async () => {
    const { folder, file } = await exported();
    await expect(importState(folder, file)).rejects.toThrow(
      'There is a saved state "clean". Import under another name ("ledge state import FILE NAME")',
    );
    expect(await refusalOf(file, "../outside")).toContain("cannot be the name of a saved state");
  });

  it("removes what a killed import has left, and runs beside another", async () => {
    const { folder, file } = await exported();
    mkdirSync(join(folder, "saved/.import-left/v3/kv"), { recursive: true });
    writeFileSync(join(folder, "saved/.import-left/lock"), "");
    await Promise.all([importState(folder, file, "first"), importState(folder, file, "second")]);
    const names = new SavedStates(folder).list().map(({ name }) => name);
    expect(names.toSorted()).toEqual(["clean", "first", "second"]);
    const left = readdirSync(join(folder, "saved")).filter((name) => name.startsWith(".import"));
    expect(left).toEqual([]);
  });
});

/** The bytes of the value of `exported()` that a restore leads to. */
async function restored(folder: string, name: string): Promise<string> {
  await new FolderState(folder).restore(name);
  return readFileSync(join(folder, "v3/kv/sessions/blobs/1"), "utf8");
}

/** An export of a state with one value. */
async function exportedValue(text: string): Promise<string> {
  const folder = temporaryFolder({ "v3/kv/sessions/blobs/1": text });
  const file = join(folder, "value.tar");
  await exportState(folder, null, file);
  return file;
}

describe("a value whose path has other bytes here", () => {
  it("is that of the export, if the value here is damaged", async () => {
    const { folder, file } = await exported();
    // The saved state has another name of this file.
    writeFileSync(join(folder, "v3/kv/sessions/blobs/1"), "bad");
    await importState(folder, file, "theirs");
    expect(await restored(folder, "theirs")).toBe("one");
    await new SavedStates(folder).save("again");
    await new FolderState(folder).reset();
    expect(await restored(folder, "again")).toBe("one");
  });

  it("is that of the export, if no state has saved the value here", async () => {
    const folder = temporaryFolder({ "v3/kv/sessions/blobs/1": "bad" });
    await importState(folder, await exportedValue("one"), "theirs");
    const undo = (await new FolderState(folder).restore("theirs")).undo as string;
    expect(await restored(folder, undo)).toBe("bad");
    expect(await restored(folder, "theirs")).toBe("one");
  });

  it("is in each of two states, also when one of them is deleted or copied", async () => {
    const folder = temporaryFolder();
    const states = new SavedStates(folder);
    await importState(folder, await exportedValue("one"), "first");
    await importState(folder, await exportedValue("two"), "second");
    for (const [name, text] of [
      ["first", "one"],
      ["second", "two"],
      ["first", "one"],
      ["second", "two"],
    ] as const) {
      expect(await restored(folder, name)).toBe(text);
    }
    await exportState(folder, "second", join(folder, "second.tar"));
    for (const { name } of states.list()) if (name !== "first") await states.delete(name);
    expect(readdirSync(join(folder, "saved/.contents"))).toEqual([]);
    expect(await restored(folder, "first")).toBe("one");
    await importState(folder, join(folder, "second.tar"));
    expect(await restored(folder, "second")).toBe("two");
  });
});
