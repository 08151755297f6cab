/**
 * The Unix sockets of a folder: where its owner listens, always under the same names.
 *
 * A web page cannot connect to a Unix socket, other users cannot enter its folder, and a process in
 * another network namespace can. The path of a socket is at most 103 bytes long, so the sockets of a
 * folder with a long path are reached through a link in a folder of the user below `/tmp`.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { UserError } from "../base/user-error.ts";

/** `sun_path` has 104 bytes on macOS and 108 on Linux, including the final zero. */
const pathBytesMax = 103;
/** No name of a socket is longer. */
const nameBytesMax = 20;

/** Whether workerd can listen at the sockets. On Windows only Node can, at named pipes. */
export const hasRuntimeSockets = process.platform !== "win32";

/** @param folder exists */
export function socketPath(folder: string, name: string): string {
  const path = realpathSync(folder);
  return hasRuntimeSockets
    ? join(socketsFolder(path), name)
    : `\\\\.\\pipe\\ledge-${hashOf(path)}-${name}`;
}

/** The sockets of a folder are always inside it. A long path is reached through a short link. */
function socketsFolder(folder: string): string {
  const inside = join(folder, "sockets");
  mkdirSync(inside, { recursive: true, mode: 0o700 });
  if (Buffer.byteLength(inside) + 1 + nameBytesMax <= pathBytesMax) return inside;
  const user = process.getuid?.();
  const base = `/tmp/ledge-${user}`;
  mkdirSync(base, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(base);
  if (uid !== user || (mode & 0o077) !== 0) {
    throw new UserError(
      `${base} must be a folder that only you can enter, because Ledge opens sockets in it. ` +
        `Remove it, or use a state folder with a shorter path than ${folder}.`,
    );
  }
  const link = join(base, hashOf(inside));
  if (readLink(link) !== inside) {
    const made = `${link}.${randomBytes(4).toString("hex")}`;
    symlinkSync(inside, made);
    renameSync(made, link);
  }
  return link;
}

/** `null` when there is no such link. */
function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function hashOf(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 16);
}

/** Removes the file of a socket: a server cannot listen while the file of an ended server exists. */
export function removeSocket(path: string): void {
  if (hasRuntimeSockets) rmSync(path, { force: true });
}

/**
 * Gives the socket of a server that listens another name, at which clients connect. The name leads
 * to the last server until this moment: workerd logs a stack when it connects to a name that does
 * not exist, and nothing when no server accepts. A folder that was removed meanwhile has no clients.
 */
export function publishSocket(path: string, publicPath: string): void {
  try {
    renameSync(path, publicPath);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/**
 * Makes the file of a socket at which no server listens, if the file does not exist. For a client
 * that starts before the first server does.
 */
export async function reserveSocket(publicPath: string): Promise<void> {
  if (existsSync(publicPath)) return;
  const path = `${publicPath}.${process.pid}`;
  removeSocket(path);
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  try {
    // A link never replaces the socket of a server that has started meanwhile.
    linkSync(path, publicPath);
  } catch {
    // The file exists now, or the file system has no links: then workerd logs its first attempts.
  }
  // Node removes the first name of the file.
  await new Promise((resolve) => server.close(resolve));
}
