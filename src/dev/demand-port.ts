/**
 * A port that is open before its server runs: the first connection starts the server. A connection
 * waits until the server runs and is then passed on to the port of the server.
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

interface DemandPortOptions {
  readonly host: string;
  /** 0 for any. */
  readonly port: number;
  /** Starts the server, or waits for its start. Returns its port on the same host. */
  readonly start: () => Promise<number>;
}

export class DemandPort {
  readonly #options: DemandPortOptions;
  readonly #server: Server;
  readonly #connections = new Set<Socket>();

  private constructor(options: DemandPortOptions) {
    this.#options = options;
    this.#server = createServer({ pauseOnConnect: true }, (client) => void this.#pass(client));
  }

  static async open(options: DemandPortOptions): Promise<DemandPort> {
    const opened = new DemandPort(options);
    opened.#server.listen(options.port, options.host);
    await once(opened.#server, "listening");
    return opened;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const connection of this.#connections) connection.destroy();
    await closed;
  }

  async #pass(client: Socket): Promise<void> {
    this.#follow(client);
    let port: number;
    try {
      port = await this.#options.start();
    } catch {
      // The starter reports the reason.
      client.destroy();
      return;
    }
    if (client.destroyed) return;
    const server = connect(port, this.#options.host);
    this.#follow(server);
    client.once("close", () => server.destroy());
    server.once("close", () => client.destroy());
    client.pipe(server).pipe(client);
  }

  #follow(connection: Socket): void {
    this.#connections.add(connection);
    connection.once("close", () => this.#connections.delete(connection));
    // The end of the other side follows from the event "close".
    connection.on("error", () => {});
  }
}
