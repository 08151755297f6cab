import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { identityOf, isAlive } from "./processes.ts";

/** Ends the first thread of its process, and leaves a second. */
const halfEnded = `
import ctypes, threading, time
threading.Thread(target=lambda: time.sleep(60)).start()
ctypes.CDLL(None).pthread_exit(None)
`;
const hasPython =
  process.platform === "linux" && spawnSync("python3", ["-c", "import ctypes"]).status === 0;

describe("isAlive()", () => {
  it("tells a running process from one that has ended", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    const identity = identityOf(child.pid as number);
    expect(isAlive(identity)).toBe(true);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(isAlive(identity)).toBe(false);
  });

  it("is false for another process with the same id", () => {
    expect(isAlive({ ...identityOf(process.pid), processStart: "1" })).toBe(
      identityOf(process.pid).processStart === null,
    );
  });

  it.skipIf(!hasPython)("is true until the last thread has ended", async () => {
    const child = spawn("python3", ["-c", halfEnded]);
    const processId = child.pid as number;
    await vi.waitFor(() => expect(stateOf(processId)).toBe("Z"), { timeout: 20_000 });
    expect(isAlive({ processId, processStart: null })).toBe(true);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(isAlive({ processId, processStart: null })).toBe(false);
  });
});

/** Of the first thread, as proc_pid_stat(5) names it. */
function stateOf(processId: number): string {
  const text = readFileSync(`/proc/${processId}/stat`, "utf8");
  return text.charAt(text.lastIndexOf(")") + 2);
}
