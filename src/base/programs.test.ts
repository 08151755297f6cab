import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { isMarkHeld, makeMark } from "./open-mark.ts";
import { loopbackArgument, watchCrashes } from "./programs.ts";

/** A process that looks like a runtime of Miniflare, and has ended by an interrupt of another process. */
async function interruptedRuntime() {
  const crash = Promise.withResolvers<{ signal: string; tell: () => void }>();
  const endWatch = watchCrashes((signal, tell) => crash.resolve({ signal, tell }));
  onTestFinished(endWatch);
  const wait = "setInterval(() => {}, 1000)";
  const runtime = spawn(process.execPath, ["-e", wait, "--", `${loopbackArgument}localhost:1`], {
    stdio: "ignore",
  });
  onTestFinished(() => void runtime.kill("SIGKILL"));
  await once(runtime, "spawn");
  const told = recordExits(runtime);
  process.kill(runtime.pid as number, "SIGINT");
  return { runtime, told, ...(await crash.promise) };
}

function recordExits(child: ChildProcess): unknown[] {
  const told: unknown[] = [];
  child.on("exit", (_, signal) => told.push(signal));
  return told;
}

it("tells Miniflare of an end by a signal once, when the watcher says so", async () => {
  const { told, signal, tell } = await interruptedRuntime();
  expect(signal).toBe("SIGINT");
  await new Promise(setImmediate);
  expect(told).toEqual([]);
  tell();
  tell();
  expect(told).toEqual(["SIGINT"]);
});

it("tells Miniflare of the end when Miniflare stops the runtime", async () => {
  const { runtime, told, tell } = await interruptedRuntime();
  const exited = once(runtime, "exit");
  expect(told).toEqual([]);
  runtime.kill("SIGKILL");
  await exited;
  tell();
  expect(told).toEqual(["SIGINT"]);
});

const programsUrl = new URL("./programs.ts", import.meta.url).href;

/** What a program prints that uses the module in the main thread of a process. */
function runProgram(program: string): string {
  const script = `import * as programs from ${JSON.stringify(programsUrl)};\n${program}`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module-typescript", "-e", script],
    { encoding: "utf8" },
  );
  return stdout + stderr;
}

describe.skipIf(process.platform === "win32")("endProgramsWithThisProcess()", () => {
  it("gives a runtime a private umask, and no other process", () => {
    const printed = runProgram(`
      import { spawn } from "node:child_process";
      import { once } from "node:events";
      process.umask(0o022);
      programs.endProgramsWithThisProcess();
      for (const argument of ["${loopbackArgument}localhost:1", "other"]) {
        const args = ["-p", "process.umask().toString(8)", "--", argument];
        const child = spawn(process.execPath, args, { stdio: "inherit" });
        await once(child, "close");
      }
      console.log(process.umask().toString(8));
    `);
    expect(printed.split("\n")).toEqual(["77", "22", "22", ""]);
  });

  it("keeps a runtime and the bundler from the signals of a terminal", () => {
    const printed = runProgram(`
      import { spawn } from "node:child_process";
      import { once } from "node:events";
      programs.endProgramsWithThisProcess();
      for (const argument of ["${loopbackArgument}localhost:1", "esbuild --service=1", "other"]) {
        const interrupt = "kill -HUP $$; kill -INT $$; exit 3";
        const child = spawn("/bin/sh", ["-c", interrupt, argument], { stdio: "ignore" });
        console.log((await once(child, "close")).join());
      }
    `);
    expect(printed.split("\n")).toEqual(["3,", "3,", ",SIGHUP", ""]);
  });

  it("keeps exit codes, signals, and the error for a file that does not exist", () => {
    const printed = runProgram(`
      import { spawn } from "node:child_process";
      import { once } from "node:events";
      programs.endProgramsWithThisProcess();
      const start = (program, file = process.execPath) =>
        spawn(file, ["-e", program, "--", "${loopbackArgument}localhost:1"], { stdio: "ignore" });
      console.log(await once(start("process.exit(3)"), "close"));
      const waiting = start("setInterval(() => {}, 1000)");
      waiting.kill("SIGTERM");
      console.log(await once(waiting, "close"));
      console.log((await once(start("", "/missing"), "error"))[0].code);
    `);
    expect(printed).toBe("[ 3, null ]\n[ null, 'SIGTERM' ]\nENOENT\n");
  });

  it.each(["SIGKILL", "SIGTERM"] as const)(
    "ends a runtime and the bundler when the process ends by %s, also stopped ones",
    async (signal) => {
      const folder = mkdtempSync(join(tmpdir(), "ledge-programs-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const marks = ["runtime", "bundler"].map((name) => join(folder, name));
      for (const mark of marks) makeMark(mark);
      // The program holds the mark open, as a runtime does.
      const script = `
        import * as programs from ${JSON.stringify(programsUrl)};
        import { openMark } from ${JSON.stringify(new URL("./open-mark.ts", import.meta.url).href)};
        import { spawn } from "node:child_process";
        const isLate = ${signal === "SIGTERM"};
        if (!isLate) programs.endProgramsWithThisProcess();
        const wait = "console.log(1); setInterval(() => {}, 1000)";
        const words = [["${loopbackArgument}localhost:1"], ["esbuild", "--service=1"]];
        for (const [index, mark] of ${JSON.stringify(marks)}.entries()) {
          const stdio = ["ignore", "pipe", "inherit", ...openMark(mark)];
          const child = spawn(process.execPath, ["-e", wait, "--", ...words[index]], { stdio });
          await new Promise((resolve) => child.stdout.once("data", resolve));
          child.kill("SIGSTOP");
        }
        // A plugin of wrangler is loaded after wrangler has started its proxy.
        if (isLate) programs.endProgramsWithThisProcess();
        console.log("started");
        setInterval(() => {}, 1000);`;
      const parent = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void parent.kill("SIGKILL"));
      await once(parent.stdout, "data");
      const isHeld = () => marks.map(isMarkHeld);
      // The parent has the marks open, too.
      expect(isHeld()).toEqual([true, true]);
      parent.kill(signal);
      await expect.poll(isHeld, { timeout: 30_000 }).toEqual([false, false]);
    },
  );
});
