/** A process meets the journal of another process that restores, alive or killed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { FolderState } from "../../src/saved/folder-state.ts";
import { finishRestoration } from "../../src/saved/restoration.ts";
import { savedLockPath } from "../../src/state/folder.ts";
import { FileLock } from "../../src/state/lock.ts";
import { d1Database, kvDatabase, MadeState } from "./support/made-state.ts";

const freezeProgram = fileURLToPath(new URL("support/freeze-program.ts", import.meta.url));

afterEach(() => vi.restoreAllMocks());

/** A folder whose state is not the saved state "one", and a process that restores "one" and has written its journal. */
async function restoring() {
  const state = new MadeState();
  state.putValue("a");
  state.write(d1Database, ["CREATE TABLE t (v)", "INSERT INTO t VALUES (1)"]);
  await new FolderState(state.folder).save("one");
  const one = state.content();
  state.putValue("b");
  state.write(d1Database, ["INSERT INTO t VALUES (2)"]);
  // Databases with a log would be set aside.
  for (const path of [kvDatabase, d1Database]) state.checkpoint(path);
  const two = state.content();
  const child = spawn(process.execPath, [freezeProgram, state.folder, "journal"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  onTestFinished(kill);
  await once(child.stdout, "data");
  const journal = join(state.folder, "saved/.restoring.json");
  expect(existsSync(journal)).toBe(true);
  return { state, one, two, journal, kill };
}

test("finishRestoration() leaves the files to a process that restores, until that process ends", async () => {
  const { state, one, two, journal, kill } = await restoring();
  const attempts = vi.spyOn(FileLock, "tryTake");
  const finished = finishRestoration(state.folder);
  const hasWaited = vi.waitFor(() => expect(attempts.mock.calls.length).toBeGreaterThan(2), 60_000);
  await Promise.race([finished, hasWaited]);
  expect(state.content()).toEqual(two);
  expect(existsSync(journal)).toBe(true);
  await kill();
  await finished;
  expect(state.content()).toEqual(one);
  expect(existsSync(journal)).toBe(false);
  await hasWaited;
});

test("a save finishes the restoration of a process that is killed just before the save has the lock", async () => {
  const { state, one, journal, kill } = await restoring();
  await kill();
  // No journal is there when the save looks for one.
  renameSync(journal, `${journal}.later`);
  const tryTake = FileLock.tryTake.bind(FileLock);
  vi.spyOn(FileLock, "tryTake").mockImplementation((path) => {
    const isFirst = path === savedLockPath(state.folder) && existsSync(`${journal}.later`);
    if (isFirst) renameSync(`${journal}.later`, journal);
    return tryTake(path);
  });
  const folderState = new FolderState(state.folder);
  await folderState.save("saved");
  expect(existsSync(journal)).toBe(false);
  expect(state.content()).toEqual(one);
  state.putValue("c");
  await folderState.restore("saved");
  expect(state.content()).toEqual(one);
});
