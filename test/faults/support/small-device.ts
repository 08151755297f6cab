/**
 * A small device: a tmpfs in a mount namespace of its own, so that a test that is killed leaves
 * nothing mounted. A program of `device-programs/` runs on it and checks what it sees; its exit
 * code is the result.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Root needs no user namespace, which some machines do not allow. */
const namespace = process.getuid?.() === 0 ? ["-m"] : ["-rm"];

/** Why no device can be made on this machine; `null` when one can. */
export function deviceProblem(): string | null {
  const command = "mount -t tmpfs -o size=1m tmpfs /mnt";
  const { error, status, stderr } = spawnSync("unshare", [...namespace, "sh", "-c", command], {
    encoding: "utf8",
  });
  if (error !== undefined) return `unshare does not run (${error.message})`;
  return status === 0 ? null : `a tmpfs cannot be mounted (${stderr.trim()})`;
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

export interface DeviceRun {
  readonly ended: Promise<Ended>;
  /** Ends the program and its runtimes, if they still run. */
  end(): Promise<void>;
}

/** Starts a program with the path of the device as its argument. */
export function startOnDevice(program: string, mebibytes: number): DeviceRun {
  const folder = mkdtempSync(join(tmpdir(), "ledge-test-"));
  const device = join(folder, "device");
  mkdirSync(device);
  const path = fileURLToPath(new URL(`./device-programs/${program}.ts`, import.meta.url));
  const mount = `mount -t tmpfs -o size=${mebibytes}m tmpfs "$0" && exec "$@"`;
  const child = spawn(
    "unshare",
    [...namespace, "sh", "-c", mount, device, process.execPath, path, device],
    { detached: true, stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code) => resolve({ code, output: withoutStacks(output) }));
  });
  return {
    ended,
    async end() {
      // The group, so that the runtimes of the program end, too.
      if (child.exitCode === null && child.signalCode === null) {
        process.kill(-(child.pid as number), "SIGKILL");
      }
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** workerd writes the addresses of its functions with each error. */
function withoutStacks(output: string): string {
  return output.replaceAll(/^stack: .*$/gm, "stack");
}
