/**
 * The door's place in a runtime (`store/door`): a port of its own.
 *
 * Miniflare opens sockets to workers that its options name, and a plugin sees the options before
 * they are read. The number of the port has to be known beforehand, for nobody tells a plugin
 * which one workerd has got.
 */
import { randomBytes } from "node:crypto";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { ParsedWorkerOptions } from "miniflare";
import type { Door } from "./boot.ts";

/** Also the name of the class: no script will have one like it. */
const entrypoint = "LedgeStoreDoor";
const scriptName = "ledge-store";

/**
 * The service behind the door, which is that of the buckets: one more would be one more isolate to
 * start. Miniflare looks for the service of a socket among the scripts.
 */
export const storeService = `core:user:${scriptName}`;

const doors = new Map<number, Door>();

/** The door of a Miniflare, known by its own port: a runtime that restarts keeps it. */
export async function doorOf(loopbackPort: number): Promise<Door> {
  let door = doors.get(loopbackPort);
  if (door === undefined) {
    door = { port: await reservePort(), secret: randomBytes(32).toString("base64url") };
    doors.set(loopbackPort, door);
  }
  return door;
}

/** Makes Miniflare open the door, with this script's sockets. Options may be read more than once. */
export function openDoor(worker: ParsedWorkerOptions, { port }: Door): void {
  const dev = ((worker as { dev?: ParsedWorkerOptions["dev"] }).dev ??= {} as never) as {
    unsafeDirectSockets?: object[];
  };
  const others = (dev.unsafeDirectSockets ?? []).filter(
    (socket) => (socket as { entrypoint?: string }).entrypoint !== entrypoint,
  );
  dev.unsafeDirectSockets = [
    ...others,
    { host: "127.0.0.1", port, serviceName: scriptName, entrypoint },
  ];
}

/**
 * A free port that stays so for a while. A connection to it keeps the system from giving it to
 * somebody else, and does not keep workerd from listening there.
 */
async function reservePort(): Promise<number> {
  const server = createServer();
  const { promise: accepted, resolve } = Promise.withResolvers<Socket>();
  server.once("connection", resolve);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const sockets = [connect(port, "127.0.0.1"), await accepted];
  server.close();
  // Windows does not let a port be shared in this way.
  const milliseconds = process.platform === "win32" ? 0 : reservedMilliseconds;
  for (const socket of sockets) socket.unref().on("error", () => {});
  setTimeout(() => {
    for (const socket of sockets) socket.destroy();
  }, milliseconds).unref();
  return port;
}

const reservedMilliseconds = 30_000;
