/**
 * Ports for servers that cannot choose a free port themselves, or cannot say which they chose: those of other
 * projects, and servers that must have the same port after a restart. All others listen at port 0.
 */
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";

/**
 * A port that is free for TCP and UDP, and below the ephemeral ports: the system could give one of
 * those to a client before the server starts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const [tcp, udp] = [createServer(), createSocket("udp4")];
    try {
      await new Promise<void>((resolve, reject) => {
        tcp.once("error", reject).listen(port, "127.0.0.1", resolve);
      });
      await new Promise<void>((resolve, reject) => {
        udp.once("error", reject).bind({ port, address: "127.0.0.1", exclusive: true }, resolve);
      });
      return port;
    } catch {
      // The port is in use: try another.
    } finally {
      tcp.close();
      udp.close();
    }
  }
}
