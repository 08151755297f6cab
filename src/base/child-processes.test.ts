import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { watchCrashes } from "./child-processes.ts";
import { loopbackArgument } from "./processes.ts";

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
