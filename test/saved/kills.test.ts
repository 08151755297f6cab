/**
 * A process that saves, restores or deletes is killed before each change that it makes to a file. Afterwards every saved
 * state is whole, and what is there is the state before or the state after, never a mixture.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { finishRestoration } from "../../src/saved/restoration.ts";
import { SavedStates } from "../../src/saved/saved-states.ts";
import { FolderState } from "../../src/saved/folder-state.ts";
import { isLong } from "../faults/support/seed.ts";
import { d1Database, kvDatabase, MadeState } from "./support/made-state.ts";

/** The quick form takes some of the changes only, in each run the same. */
const step = isLong ? 1 : 4;
const program = fileURLToPath(new URL("support/killed-program.ts", import.meta.url));
const names = ["0123456789abcdef.", "fedcba9876543210."].map((run) => run + "a".repeat(32));

/** @returns whether the process was killed */
function killedAt(number: number, folder: string, action: string, name: string): boolean {
  const words = [program, folder, action, name, String(number)];
  const { signal, status, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  if (signal === null && status !== 0) throw new Error(stderr);
  return signal === "SIGKILL";
}

/** Two states of which each has values, rows, a log and a database that the other does not have. */
async function madeStates() {
  const state = new MadeState();
  const [first, second] = names as [string, string];
  state.putValue("a");
  state.putValue("b");
  state.putObject(first);
  state.write(d1Database, ["CREATE TABLE t (v)", "INSERT INTO t VALUES (1)"]);
  state.checkpoint(d1Database);
  const states = new SavedStates(state.folder);
  await states.save("one");
  const one = state.content();
  state.removeValue("a");
  state.putValue("c");
  state.checkpoint(kvDatabase);
  state.putObject(second);
  state.write(d1Database, ["INSERT INTO t VALUES (2)"]);
  state.write("do/other/o.sqlite", ["CREATE TABLE o (v)"]);
  await states.save("two");
  return { state, one, two: state.content() };
}

describe("a process that is killed before each change of a file", { timeout: 300_000 }, () => {
  test("leaves the state before or the state after, when it restores", async () => {
    const { state, one, two } = await madeStates();
    const folderState = new FolderState(state.folder);
    const outcomes = { before: 0, after: 0 };
    for (let number = 1; ; number += step) {
      await folderState.restore("two");
      expect(state.content()).toEqual(two);
      const wasKilled = killedAt(number, state.folder, "restore", "one");
      await finishRestoration(state.folder);
      const content = state.content();
      expect([one, two]).toContainEqual(content);
      const isBefore = isDeepStrictEqual(content, two);
      outcomes[isBefore ? "before" : "after"]++;
      if (!wasKilled) break;
    }
    expect(outcomes.before).toBeGreaterThan(1);
    expect(outcomes.after).toBeGreaterThan(2);
    await folderState.restore("one");
    expect(state.content()).toEqual(one);
  });

  test.each(["three", "one"])("leaves whole states, when it saves %s", async (name) => {
    const { state, one, two } = await madeStates();
    const folderState = new FolderState(state.folder);
    const pool = state.pool();
    const before = name === "one" ? one : null;
    let kept = 0;
    for (let number = 1; ; number += step) {
      state.putValue(`n${number}`);
      const now = state.content();
      if (!killedAt(number, state.folder, "save", name)) break;
      const found = (await folderState.list()).some((each) => each.name === name);
      expect(found || before === null).toBe(true);
      if (found) await folderState.restore(name);
      expect(found ? [now, before] : [now]).toContainEqual(state.content());
      kept++;
      await folderState.restore("two");
      expect(state.content()).toEqual(two);
      for (const { name: undo } of await folderState.list()) {
        if (undo.startsWith("before-")) await folderState.delete(undo);
      }
      if (name === "three" && found) await folderState.delete(name);
    }
    expect(kept).toBeGreaterThan(2);
    await folderState.delete(name);
    expect(state.pool().filter((value) => !pool.includes(value))).toEqual([]);
  });

  test("leaves the other states, when it deletes", async () => {
    const { state, two } = await madeStates();
    const folderState = new FolderState(state.folder);
    for (let number = 1; ; number += step) {
      await folderState.save("more", { replace: true });
      if (!killedAt(number, state.folder, "delete", "more")) break;
      await folderState.restore("two");
      expect(state.content()).toEqual(two);
    }
    expect((await folderState.list()).map(({ name }) => name)).toEqual(["two", "one"]);
  });
});
