/**
 * The door's place in a runtime (`store/door`): a port of its own.
 *
 * Miniflare opens sockets to workers that its options name, and a plugin sees the options before
 * they are read. The number of the port has to be known beforehand, for nobody tells a plugin
 * which one workerd has got.
 */
import { randomBytes } from "node:crypto";
import type { ParsedWorkerOptions } from "miniflare";
import type { Door } from "../base/run-record.ts";
import { reservePort } from "../base/reserved-port.ts";

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
