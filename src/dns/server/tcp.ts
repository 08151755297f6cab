import { createServer, type Server } from "node:net";
import type { QueryHandler } from "./query-handler.ts";
import { TcpConnection } from "./tcp-connection.ts";
import type { SocketAddress } from "./udp.ts";

/** RFC 7766 section 6.2.3 recommends a few seconds. */
const tcpIdleMilliseconds = 10_000;
/** The limit of one listening address. */
const tcpConnectionsMax = 512;

export interface TcpOptions extends SocketAddress {
  readonly handler: QueryHandler;
  readonly idleMilliseconds?: number;
  readonly connectionsMax?: number;
}

export interface TcpListener {
  readonly port: number;
  close(): Promise<void>;
}

/** At the limit, a new connection replaces the connection with the longest silence. */
export async function openTcp(options: TcpOptions): Promise<TcpListener> {
  const { host, port, handler } = options;
  const { idleMilliseconds = tcpIdleMilliseconds, connectionsMax = tcpConnectionsMax } = options;
  /** In the order of their last queries. */
  const connections = new Set<TcpConnection>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection: TcpConnection = new TcpConnection(socket, {
      handler,
      idleMilliseconds,
      onQuery() {
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

function listen(server: Server, { host, port }: SocketAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, exclusive: true, ipv6Only: host.includes(":") }, () => {
      server.off("error", reject);
      server.on("error", () => {});
      resolve();
    });
  });
}
