import { createServer, type Server } from "node:net";
import type { Answerer } from "./answerer.ts";
import { TcpConnection } from "./tcp-connection.ts";
import type { Endpoint } from "./udp.ts";

/** RFC 7766 section 6.2.3 wants seconds; clients that have more to ask ask within them. */
const tcpIdleMilliseconds = 10_000;
/** Of one address we listen at. */
const tcpConnectionsMax = 512;

export interface TcpOptions extends Endpoint {
  readonly answerer: Answerer;
  readonly idleMilliseconds?: number;
  readonly connectionsMax?: number;
}

export interface TcpListener {
  readonly port: number;
  close(): Promise<void>;
}

/** When all places are taken, the client that has been silent for longest loses its own. */
export async function openTcp(options: TcpOptions): Promise<TcpListener> {
  const { host, port, answerer } = options;
  const { idleMilliseconds = tcpIdleMilliseconds, connectionsMax = tcpConnectionsMax } = options;
  /** The longest silent first. */
  const connections = new Set<TcpConnection>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection: TcpConnection = new TcpConnection(socket, {
      answerer,
      idleMilliseconds,
      active() {
        connections.delete(connection);
        connections.add(connection);
      },
    });
    socket.once("close", () => connections.delete(connection));
    if (connections.size >= connectionsMax) {
      const [silent] = connections;
      connections.delete(silent!);
      silent!.destroy();
    }
    connections.add(connection);
  });
  await listen(server, { host, port });
  return {
    port: (server.address() as { port: number }).port,
    close() {
      for (const connection of connections) connection.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function listen(server: Server, { host, port }: Endpoint): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, exclusive: true, ipv6Only: host.includes(":") }, () => {
      server.off("error", reject);
      server.on("error", () => {});
      resolve();
    });
  });
}
