import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import type { ServerAddress } from "../config/dns-table.ts";
import type { QueryHandler } from "./query-handler.ts";
import { TcpConnection } from "./tcp-connection.ts";

/** RFC 7766 section 6.2.3 recommends a few seconds. */
const tcpIdleMilliseconds = 10_000;
/** The limit of one listening address. */
const tcpConnectionsMax = 512;

export interface TcpOptions extends ServerAddress {
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
      server: host,
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
  server.listen({ host, port, exclusive: true, ipv6Only: host.includes(":") });
  await once(server, "listening");
  // A connection that cannot be accepted is lost; the client retries.
  server.on("error", () => {});
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const connection of connections) connection.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
