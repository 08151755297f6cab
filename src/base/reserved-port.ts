/** Ports whose number has to be known before somebody else listens there. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/**
 * A free port that stays so for a while. A connection to it keeps the system from giving it to
 * somebody else, and does not keep workerd from listening there.
 */
export async function reservePort(): Promise<number> {
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
