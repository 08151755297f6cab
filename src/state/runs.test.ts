import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { identityOf, loopbackArgument, thisProcess } from "../base/processes.ts";
import { newRunId, RunRecords } from "./runs.ts";

/** The records of a new state folder, and the folder of the records. */
function newRuns(): { runs: RunRecords; folder: string } {
  const stateFolder = mkdtempSync(join(tmpdir(), "ledge-runs-"));
  onTestFinished(() => rmSync(stateFolder, { recursive: true, force: true }));
  return { runs: new RunRecords(stateFolder), folder: join(stateFolder, "runs") };
}

function startProcess(...args: string[]): ChildProcess {
  return spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "--", ...args]);
}

/** A process that has ended. */
const ended = { processId: spawnSync(process.execPath, ["-e", ""]).pid, processStart: "1" };

test("RunRecords.activeIds() lists the runs of processes that are alive", () => {
  const { runs, folder } = newRuns();
  expect(runs.activeIds()).toEqual([]);
  const [own, other] = [newRunId(), newRunId()];
  runs.write(own);
  writeFileSync(join(folder, other), JSON.stringify(ended));
  writeFileSync(join(folder, newRunId()), "{");
  writeFileSync(join(folder, "notes.txt"), JSON.stringify(thisProcess()));
  expect(runs.activeIds()).toEqual([own]);
  expect(statSync(join(folder, own)).mode & 0o777).toBe(0o600);
  runs.remove(own);
  expect(runs.activeIds()).toEqual([]);
});

test("RunRecords.endAbandoned() ends the runtimes of processes that have ended", async () => {
  const { runs, folder } = newRuns();
  const own = newRunId();
  runs.write(own, thisProcess());
  // A stopped process ends too, and another program with the id of a runtime does not.
  const runtime = startProcess(`${loopbackArgument}127.0.0.1:1`);
  const program = startProcess();
  onTestFinished(() => void program.kill());
  await Promise.all([once(runtime, "spawn"), once(program, "spawn")]);
  runtime.kill("SIGSTOP");
  for (const { pid } of [runtime, program]) {
    const record = { ...ended, runtime: identityOf(pid as number) };
    writeFileSync(join(folder, newRunId()), JSON.stringify(record));
  }
  mkdirSync(join(folder, "folder"));
  const exited = once(runtime, "exit");
  await runs.endAbandoned();
  expect(await exited).toEqual([null, "SIGKILL"]);
  expect(program.exitCode).toBeNull();
  expect(readdirSync(folder).toSorted()).toEqual([own, "folder"].toSorted());
});

test("RunRecords.afterClientEnd() waits for the end of a process whose connections have closed", async () => {
  const { runs, folder } = newRuns();
  const own = newRunId();
  runs.write(own, thisProcess());
  const client = startProcess();
  onTestFinished(() => void client.kill());
  await once(client, "spawn");
  writeFileSync(join(folder, newRunId()), JSON.stringify(identityOf(client.pid as number)));
  const removed = runs.afterClientEnd();
  expect(readdirSync(folder)).toHaveLength(2);
  client.kill("SIGKILL");
  await removed;
  expect(readdirSync(folder)).toEqual([own]);
});
