import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  activeRuns,
  beginRun,
  endRun,
  isRunActive,
  newRunId,
  OwnFolder,
  removeEndedRuns,
} from "./runs.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "ledge-runs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A process that does something and then waits. Resolves with what the process prints. */
async function startProcess(action: string): Promise<{ child: ChildProcess; printed: string }> {
  const url = JSON.stringify(new URL("./runs.ts", import.meta.url).href);
  const program = `import * as runs from ${url}; ${action}; setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [printed] = (await once(child.stdout, "data")) as [Buffer];
  return { child, printed: printed.toString() };
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

test("a run is active until its end, or the end of its process", async () => {
  const folder = newFolder();
  const [own, other] = [newRunId(), newRunId()];
  beginRun(folder, own);
  beginRun(folder, own);
  const { child } = await startProcess(
    `runs.beginRun(${JSON.stringify(folder)}, "${other}"); console.log("begun")`,
  );
  expect([own, other].map((id) => isRunActive(folder, id))).toEqual([true, true]);
  removeEndedRuns(folder);
  expect(activeRuns(folder).toSorted()).toEqual([own, other].toSorted());
  await kill(child);
  expect([own, other].map((id) => isRunActive(folder, id))).toEqual([true, false]);
  expect(activeRuns(folder)).toEqual([own]);
  endRun(folder, own);
  expect(isRunActive(folder, own)).toBe(false);
  expect(readdirSync(join(folder, "runs"))).toEqual([other]);
});

test("removeEndedRuns() removes records of ended processes, and no other file", () => {
  const folder = newFolder();
  const own = newRunId();
  beginRun(folder, own);
  const runs = join(folder, "runs");
  // As a killed process, or a copy of the folder, has left it.
  writeFileSync(join(runs, newRunId()), "");
  writeFileSync(join(runs, "notes.txt"), "");
  mkdirSync(join(runs, "folder"));
  removeEndedRuns(folder);
  expect(readdirSync(runs).toSorted()).toEqual([own, "folder", "notes.txt"].toSorted());
  endRun(folder, own);
  removeEndedRuns(join(folder, "missing"));
});

test("a new OwnFolder removes the folders of ended processes, and no other folder", async () => {
  const parent = newFolder();
  const { child, printed } = await startProcess(
    `console.log(new runs.OwnFolder(${JSON.stringify(parent)}, "own-").path)`,
  );
  const left = basename(printed.trim());
  writeFileSync(join(parent, left, "content"), "content");
  mkdirSync(join(parent, "own-foreign"));
  writeFileSync(join(parent, "own-foreign", "content"), "content");
  mkdirSync(join(parent, "own-empty"));
  mkdirSync(join(parent, "other"));
  const own = new OwnFolder(parent, "own-");
  const kept = [basename(own.path), "own-foreign", "other"];
  expect(readdirSync(parent).toSorted()).toEqual([...kept, left].toSorted());
  await kill(child);
  const second = new OwnFolder(parent, "own-");
  expect(readdirSync(parent).toSorted()).toEqual([...kept, basename(second.path)].toSorted());
  own.remove();
  second.remove();
  expect(existsSync(own.path)).toBe(false);
});
