/**
 * A device that loses its power: a file system (ext4) in a file, whose cut loses all that was not
 * synced.
 *
 * The file system is mounted in a mount namespace of its own, which ends with its processes, so a test
 * that is killed leaves nothing mounted and no loop device. Programs enter the namespace
 * (`command()`); a test sees the files through `/proc` (`outside()`).
 *
 * The cut is `FS_IOC_SHUTDOWN` without a flush of the journal: from then on every write fails, and the
 * file has what was written to the device before. Perl makes the call, because Node cannot, and
 * systems without Python have Perl.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** The journal and dirty pages are not written by themselves while a test runs. */
const mountCommand = "mount -t ext4 -o loop,noatime,commit=600";
/** `_IOR('X', 125, __u32)` with `EXT4_GOING_FLAGS_NOLOGFLUSH`. */
const cutProgram =
  'open(my $root, "<", $ARGV[0]) or die $!; my $flags = pack("L", 2); ' +
  "ioctl($root, 0x8004587d, $flags) or die $!;";

/** Why no device can be cut on this machine; `null` when one can. */
export function powerProblem(): string | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    return "only root can mount a file system of Linux";
  }
  const folder = temporaryFolder();
  makeFileSystem(join(folder, "image"), 16);
  mkdirSync(join(folder, "device"));
  const attempt = `${mountCommand} "$0/image" "$0/device" && perl -e '${cutProgram}' "$0/device"`;
  const { error, status, stderr } = spawnSync("unshare", ["-m", "sh", "-c", attempt, folder], {
    encoding: "utf8",
  });
  if (error !== undefined) return `unshare does not run (${error.message})`;
  return status === 0 ? null : stderr.trim();
}

function makeFileSystem(path: string, mebibytes: number): void {
  writeFileSync(path, "");
  truncateSync(path, mebibytes * 1024 * 1024);
  spawnSync("mkfs.ext4", ["-q", "-F", path]);
}

export class PowerDevice {
  /** Where the device is for programs in the namespace. */
  readonly path: string;
  readonly #image = join(temporaryFolder(), "image");
  readonly #holder: ChildProcess;

  private constructor(path: string) {
    this.path = path;
    mkdirSync(path, { recursive: true });
    makeFileSystem(this.#image, 1024);
    const script = `${mountCommand} "$0" "$1" && echo mounted && read end`;
    this.#holder = spawn("unshare", ["-m", "sh", "-c", script, this.#image, path], {
      stdio: ["pipe", "pipe", "inherit"],
    });
  }

  /** Mounts a new device at a path. */
  static async mount(path: string): Promise<PowerDevice> {
    const device = new PowerDevice(path);
    const { stdout, stdin } = device.#holder;
    const ended = once(device.#holder, "exit");
    onTestFinished(async () => {
      if (device.#holder.exitCode === null) device.#run("umount -l", path);
      stdin?.end();
      await ended;
    });
    const first = await Promise.race([once(stdout as NodeJS.EventEmitter, "data"), ended]);
    if (String(first[0]).trim() !== "mounted") throw new Error("Cannot mount the device");
    return device;
  }

  /** The words that run a program in the namespace. */
  get before(): string[] {
    return ["nsenter", "-t", String(this.#holder.pid), "-m"];
  }

  /** The words that run a program in a folder, which may be on the device. */
  command(folder: string, words: readonly string[]): string[] {
    return [...this.before, "sh", "-c", 'cd "$0" && exec "$@"', folder, ...words];
  }

  /** Where this process sees a path of the namespace. */
  outside(path: string): string {
    return `/proc/${this.#holder.pid}/root${path}`;
  }

  /** The power is lost. Programs that use the device have to end before it returns. */
  cut(): void {
    this.#run(`perl -e '${cutProgram}'`, this.path);
  }

  /** The power is back: the file system recovers by its journal. */
  restore(): void {
    this.#run("umount", this.path);
    this.#run(`${mountCommand} "${this.#image}"`, this.path);
  }

  #run(command: string, path: string): void {
    const [file, ...words] = this.before;
    const { status, stderr } = spawnSync(
      file as string,
      [...words, "sh", "-c", `${command} "$0"`, path],
      { encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`${command} ${path}: ${stderr}`);
  }
}
