/**
 * Files of the system that look different to one program: on Linux a program can have mounts of
 * its own. The user root needs nothing else for that. Any other user gets the right to mount in a
 * user namespace, where the user is root, and a second one in which the program has the user's own
 * id again and no rights. Systems may forbid user namespaces, and containers often do.
 *
 * Each step replaces its process by the next (exec), so signals and the exit code are those of the
 * program.
 */
import { spawnSync } from "node:child_process";

export interface PrivateFile {
  /** What the program sees. */
  readonly source: string;
  /** The path of the system, which exists. */
  readonly path: string;
}

interface User {
  readonly userId: number;
  readonly groupId: number;
}

const mountAll =
  'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 125; shift 2; done; shift; exec "$@"';

/** The command that runs `words` with the files. */
export function launchWords(
  words: readonly string[],
  files: readonly PrivateFile[],
  { userId, groupId }: User,
): string[] {
  const mounts = files.flatMap(({ source, path }) => [source, path]);
  const inside = ["sh", "-c", mountAll, "sh", ...mounts, "--"];
  if (userId === 0) return ["unshare", "--mount", "--", ...inside, ...words];
  const asRoot = ["unshare", "--user", "--map-root-user", "--mount", "--"];
  const asUser = ["unshare", "--user", `--map-user=${userId}`, `--map-group=${groupId}`, "--"];
  return [...asRoot, ...inside, ...asUser, ...words];
}

/** Why the system does not let a program have such files; `null` if it does. */
export function launchProblem(files: readonly PrivateFile[]): string | null {
  if (process.platform !== "linux") return "only Linux has mounts for one program";
  const [program = "", ...rest] = launchWords(["true"], files, currentUser());
  const { error, status, stderr } = spawnSync(program, rest, { encoding: "utf8" });
  if (error !== undefined) return `"unshare" does not start (${error.message})`;
  if (status === 0) return null;
  return stderr.trim().split("\n").at(-1) || `"unshare" ended with code ${status}`;
}

export function currentUser(): User {
  return { userId: process.getuid?.() ?? 0, groupId: process.getgid?.() ?? 0 };
}

/** A hosts file in which the names have one address. The first line with a name counts. */
export function hostsText(original: string, address: string, names: readonly string[]): string {
  return `${names.map((name) => `${address} ${name}\n`).join("")}${original}`;
}
