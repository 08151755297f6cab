/** The S3 clients that are installed: Debian's, and those of `install-newer.sh` and `install.sh`. */
import { execFileSync } from "node:child_process";
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestContext } from "vitest";

/** Where `install-newer.sh` and `s3/install.sh` put what they install. */
export const cache = fileURLToPath(new URL("../../../node_modules/.cache", import.meta.url));
const newer = join(cache, "peers/usr");

export interface ClientProgram {
  /** Such as `rclone v1.75.2` */
  readonly version: string;
  readonly path: string;
  /** Added to the environment of the program. */
  readonly environment: Readonly<Record<string, string>>;
}

interface ClientKind {
  /** The names of the executable file; packages and projects differ in some. */
  readonly names: readonly string[];
  readonly versionArguments: readonly string[];
}

const kinds = {
  aws: { names: ["aws"], versionArguments: ["--version"] },
  rclone: { names: ["rclone"], versionArguments: ["version"] },
  s3cmd: { names: ["s3cmd"], versionArguments: ["--version"] },
  restic: { names: ["restic"], versionArguments: ["version"] },
  // `mc` is Midnight Commander on Debian, so its name alone says little.
  mc: { names: ["minio-client", "mcli"], versionArguments: ["--version"] },
  s3fs: { names: ["s3fs"], versionArguments: ["--version"] },
} as const satisfies Record<string, ClientKind>;

export type ClientName = keyof typeof kinds | "boto3";

export function installedClients(name: ClientName): ClientProgram[] {
  return name === "boto3" ? pythonsWithBoto3() : executables(kinds[name]);
}

function executables({ names, versionArguments }: ClientKind): ClientProgram[] {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", join(newer, "bin")];
  const found = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  const paths = new Set(found.filter((path) => existsSync(path)).map((path) => realpathSync(path)));
  return Array.from(paths, (path) => programAt(path, versionArguments)).filter(
    (program) => program !== null,
  );
}

/** Debian's modules belong to Debian's Python. */
function pythonsWithBoto3(): ClientProgram[] {
  const python = "/usr/bin/python3";
  const version = ["-c", "import boto3, botocore; print('boto3', boto3.__version__)"];
  const others = [join(newer, "lib/python3/dist-packages"), join(cache, "boto3")];
  const folders = ["", ...others.filter((folder) => existsSync(folder))];
  return folders
    .map((folder) => programAt(python, version, folder === "" ? {} : { PYTHONPATH: folder }))
    .filter((program) => program !== null);
}

function programAt(
  path: string,
  versionArguments: readonly string[],
  environment: Record<string, string> = {},
): ClientProgram | null {
  try {
    const env = { ...process.env, ...environment };
    const text = execFileSync(path, versionArguments, { env, stdio: ["ignore", "pipe", "ignore"] });
    return { path, environment, version: text.toString().trim().split("\n")[0] as string };
  } catch {
    return null;
  }
}

/** The installed versions of a client, for `it.for()`. Without any, one case that does not run. */
export function clientCases(name: ClientName): ClientProgram[] {
  const programs = installedClients(name);
  const absent = { version: `${name} is not installed`, path: "", environment: {} };
  return programs.length === 0 ? [absent] : programs;
}

/** Skips the case of a client that is not installed. */
export function requireInstalled({ path }: ClientProgram, context: TestContext): void {
  if (path === "") didNotRun(context, "test/peers/install.sh installs the clients.");
}

/** Skips the test, and says so whatever the reporter shows. */
export function didNotRun(context: TestContext, reason: string): void {
  process.stderr.write(`Did not run: ${context.task.name}. ${reason}\n`);
  context.skip(reason);
}

export const mountNeeds = "s3fs needs /dev/fuse, which this user cannot open.";

export function canMount(): boolean {
  try {
    accessSync("/dev/fuse", constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
