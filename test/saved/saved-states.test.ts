/** Saved states and restorations of a folder that no process uses. What cannot be done is refused with a sentence, and nothing is lost. */
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { FolderState } from "../../src/saved/folder-state.ts";
import { finishRestoration, lockSaved } from "../../src/saved/journal.ts";
import { readState } from "../../src/saved/readable-state.ts";
import { Restoration } from "../../src/saved/restoration.ts";
import { SavedStates } from "../../src/saved/saved-states.ts";
import { fileState } from "../../src/state/database-files.ts";
import { deviceProblem, startOnDevice } from "../faults/support/small-device.ts";
import { d1Database, kvDatabase, MadeState } from "./support/made-state.ts";

async function savedOnce() {
  const state = new MadeState();
  state.putValue("a");
  state.write(d1Database, ["CREATE TABLE t (v)", "INSERT INTO t VALUES (1)"]);
  const folderState = new FolderState(state.folder);
  await folderState.save("one");
  return { state, folderState, folder: join(state.folder, "saved/one") };
}

/** The folder with the copies of a state. */
function filesIn(folder: string): string {
  const files = readdirSync(folder).find((name) => name !== "state.json");
  return join(folder, files as string);
}

describe("SavedStates", () => {
  test.each(["", ".hidden", "a/b", "../a", "a b", "x".repeat(101)])(
    "refuses the name %j",
    async (name) => {
      const { folder } = new MadeState();
      await expect(new SavedStates(folder).save(name)).rejects.toThrow(
        `"${name}" cannot be the name of a saved state: a name has up to 100 letters, digits, dots, underscores and hyphens, and begins with a letter or a digit.`,
      );
    },
  );

  test("does not replace a state without being told to", async () => {
    const { state, folderState } = await savedOnce();
    const before = state.content();
    state.putValue("b");
    await expect(folderState.save("one")).rejects.toThrow('There is a saved state "one" already');
    await folderState.restore("one");
    expect(state.content()).toEqual(before);
    state.putValue("c");
    const after = state.content();
    await folderState.save("one", { replace: true });
    state.removeValue("c");
    await folderState.restore("one");
    expect(state.content()).toEqual(after);
  });

  test("names the states that there are", async () => {
    const { folderState } = await savedOnce();
    const message = 'There is no saved state "two". Saved are "one".';
    await expect(folderState.restore("two")).rejects.toThrow(message);
    await expect(folderState.delete("two")).rejects.toThrow(message);
    await folderState.delete("one");
    await expect(folderState.restore("one")).rejects.toThrow(
      'There is no saved state "one". None is saved: "ledge state save NAME" saves one.',
    );
  });

  const damages: Record<string, [(folder: string) => void, RegExp]> = {
    "of a newer format": [
      (folder) => writeFileSync(join(folder, "state.json"), '{"format":2,"ledge":"9.1.0"}'),
      /^The saved state "one" has format 2, which Ledge 9\.1\.0 writes\. This version reads format 1: update Ledge, or save the state again\.$/,
    ],
    "with a manifest that is cut": [
      (folder) => truncateSync(join(folder, "state.json"), 20),
      /^The saved state "one" is damaged: its state.json cannot be read\. Delete it, and save the state again\.$/,
    ],
    "with a list of values that is cut": [
      (folder) => truncateSync(join(filesIn(folder), "values.json"), 5),
      /^The saved state "one" is damaged: \S+values.json cannot be read\. Delete it/,
    ],
    "with a database that is cut": [
      (folder) => truncateSync(join(filesIn(folder), "0"), 100),
      /^The saved state "one" is damaged: \S+ has 100 bytes instead of \d+\. Nothing was changed\./,
    ],
    "without a value": [
      (folder) => rmSync(join(folder, "../.values/kv/names/blobs/a")),
      /^The saved state "one" is damaged: \S+blobs\/a is missing\. Nothing was changed\./,
    ],
  };

  test.each(Object.keys(damages))("does not restore a state %s, and deletes it", async (kind) => {
    const { state, folderState, folder } = await savedOnce();
    await folderState.save("two");
    const [damage, message] = damages[kind] as (typeof damages)[string];
    damage(folder);
    state.removeValue("a");
    state.putValue("b");
    const before = state.content();
    await expect(folderState.restore("one")).rejects.toThrow(message);
    expect(state.content()).toEqual(before);
    await folderState.delete("one");
    expect((await folderState.list()).map(({ name }) => name)).toEqual(["two"]);
  });

  test("refuses a second save or restore, and names the first", async () => {
    const { folderState, state } = await savedOnce();
    const unlock = await lockSaved(state.folder, 'saves the state "two"');
    onTestFinished(unlock);
    const message = 'This process saves the state "two" at this moment. One process at a time';
    await expect(folderState.save("three")).rejects.toThrow(message);
    await expect(folderState.restore("one")).rejects.toThrow(message);
    unlock();
    await folderState.save("three");
  });

  test.skipIf(deviceProblem() !== null)(
    "leaves the states as they are on a full device",
    async () => {
      const run = startOnDevice("saved-states", 4);
      onTestFinished(() => run.end());
      expect(await run.ended).toEqual({ code: 0, output: "done\n" });
    },
  );
});

describe("Restoration", () => {
  test("saves what was there before, and keeps the last five", async () => {
    const { state, folderState } = await savedOnce();
    expect((await folderState.restore("one")).undo).toBeNull();
    const undos: string[] = [];
    for (let count = 0; count < 7; count++) {
      state.putValue(`n${count}`);
      undos.push((await folderState.restore("one")).undo as string);
    }
    const names = (await folderState.list()).map(({ name }) => name);
    expect(names.filter((name) => name !== "one").toSorted()).toEqual(undos.slice(-5).toSorted());
    await folderState.restore(undos.at(-1) as string);
    expect(state.content()["kv/names/blobs/n6"]).toBe("value n6");
    // The oldest can be the one that is restored.
    await folderState.restore(undos.at(-5) as string);
    expect(state.content()["kv/names/blobs/n2"]).toBe("value n2");
  });

  test("saves what was written until the files are replaced", async () => {
    const { state, folderState } = await savedOnce();
    const before = state.content();
    const record = new SavedStates(state.folder).find("one");
    const restoration = await Restoration.begin(state.folder, record);
    expect(restoration.isNeeded).toBe(false);
    restoration.prepareUndo();
    state.putValue("b");
    const written = state.content();
    restoration.apply();
    restoration.end();
    expect(state.content()).toEqual(before);
    await folderState.restore(restoration.undo as string);
    expect(state.content()).toEqual(written);
  });

  test("leaves no state with what was there when it fails", async () => {
    const { state, folderState } = await savedOnce();
    state.removeValue("a");
    const written = state.content();
    const pool = state.pool();
    const record = new SavedStates(state.folder).find("one");
    const restoration = await Restoration.begin(state.folder, record);
    restoration.prepareUndo();
    rmSync(record.valuePath("kv/names/blobs/a"));
    expect(() => restoration.apply()).toThrow("blobs/a is missing. Nothing was changed.");
    restoration.end();
    expect(state.content()).toEqual(written);
    expect((await folderState.list()).map(({ name }) => name)).toEqual(["one"]);
    expect(state.pool()).toEqual(pool.filter((name) => name !== "a"));
  });

  test("brings databases back that a killed process has set aside, and restores nothing", async () => {
    const { state } = await savedOnce();
    state.write(d1Database, ["INSERT INTO t VALUES (2)"]);
    const written = state.content();
    const record = new SavedStates(state.folder).find("one");
    const restoration = await Restoration.begin(state.folder, record);
    restoration.setAside([d1Database]);
    restoration.end();
    state.write(d1Database, ["CREATE TABLE anew (v)"]);
    await finishRestoration(state.folder);
    expect(state.content()).toEqual(written);
  });

  test("keeps a database file of which only the log differs, whatever was written since", async () => {
    const { state, folderState } = await savedOnce();
    state.checkpoint(d1Database);
    const path = state.path(d1Database);
    await folderState.save("base", { replace: true });
    const main = fileState(path);
    state.write(d1Database, ["INSERT INTO t VALUES (2)"]);
    await folderState.save("two");
    const two = state.content();
    await folderState.restore("base");
    state.write(d1Database, ["INSERT INTO t VALUES (3)"]);
    await folderState.restore("two");
    // The log of "two" has continued the same file in another way.
    expect(state.content()).toEqual(two);
    expect(fileState(path)).toBe(main);
  });

  test("leaves a value that a client of a bucket is writing", async () => {
    const { state, folderState } = await savedOnce();
    const [named, writing] = ["a", "b"].map((digit) => `0123456789abcdef.${digit.repeat(32)}`);
    state.putObject(named as string);
    state.putFile(`store/blobs/photos/${writing}`, "half");
    const saved = await new SavedStates(state.folder).save("two");
    expect(saved.isAutomatic).toBe(false);
    expect(
      new SavedStates(state.folder).find("two").values.has(`store/blobs/photos/${writing}`),
    ).toBe(false);
    expect(state.pool()).not.toContain(writing);
    await folderState.restore("one");
    expect(Object.keys(state.content()).filter((path) => path.startsWith("store/blobs"))).toEqual([
      `store/blobs/photos/${writing}`,
    ]);
  });

  test("restores an empty folder", async () => {
    const { state, folderState } = await savedOnce();
    const before = state.content();
    expect(await folderState.reset()).toMatchObject({ name: null, undo: null });
    expect(state.content()).toEqual({});
    rmSync(join(state.folder, "v3"), { recursive: true });
    await folderState.restore("one");
    expect(state.content()).toEqual(before);
  });

  test("knows what differs", async () => {
    const { state } = await savedOnce();
    const record = new SavedStates(state.folder).find("one");
    const differing = async () => {
      const restoration = await Restoration.begin(state.folder, record);
      restoration.end();
      return restoration.databases.map(({ path }) => path);
    };
    expect(await differing()).toEqual([]);
    state.write(d1Database, ["INSERT INTO t VALUES (2)"]);
    expect(await differing()).toEqual([state.path(d1Database)]);
    mkdirSync(state.path("do/x"), { recursive: true });
    state.write("do/x/metadata.sqlite", ["CREATE TABLE a (b)"]);
    expect(await differing()).toHaveLength(2);
  });
});

describe("readState()", () => {
  test("opens databases, and changes no file of the state", async () => {
    const { state, folder } = await savedOnce();
    state.write(d1Database, ["INSERT INTO t VALUES (2)"]);
    await new SavedStates(state.folder).save("two");
    const files = filesIn(folder);
    const before = readdirSync(files).map((name) => fileState(join(files, name)));
    const one = readState(new SavedStates(state.folder).find("one"));
    const two = readState(new SavedStates(state.folder).find("two"));
    expect(one.openDatabase(d1Database).prepare("SELECT v FROM t").all()).toEqual([{ v: 1 }]);
    expect(two.openDatabase(d1Database).prepare("SELECT v FROM t").all()).toHaveLength(2);
    expect(one.hasSameDatabase(kvDatabase, two)).toBe(true);
    expect(one.hasSameDatabase(d1Database, two)).toBe(false);
    expect(readFileSync(one.valuePath("kv/names/blobs/a"), "utf8")).toBe("value a");
    one.close();
    two.close();
    expect(readdirSync(files).map((name) => fileState(join(files, name)))).toEqual(before);
  });
});
