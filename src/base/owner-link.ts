/** The connection of a client to the owner of a folder (`folder-owner.ts`). */
import { existsSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { controlSocket, handoverLine, serviceLine } from "./folder-owner.ts";
import { socketPath } from "./folder-sockets.ts";

export class OwnerLink {
  /** Resolves when the owner has ended or has given the folder up, or after `close()`. */
  readonly ended: Promise<void>;
  readonly #connection: Socket;

  private constructor(connection: Socket) {
    this.#connection = connection;
    this.ended = new Promise((resolve) => connection.once("close", () => resolve()));
    connection.unref();
  }

  /**
   * Returns `null` when no process listens. Then the folder has no owner, or an owner that starts or
   * ends at this moment: the lock decides.
   */
  static async connect(folder: string): Promise<OwnerLink | null> {
    if (!existsSync(folder)) return null;
    const connection = connect(socketPath(folder, controlSocket));
    return new Promise((resolve) => {
      connection.once("connect", () => resolve(new OwnerLink(connection)));
      connection.on("error", () => resolve(null));
    });
  }

  /** Asks a brief owner for the folder. `ended` tells when the owner has given the folder up. */
  requestHandover(): void {
    this.#connection.write(`${handoverLine}\n`);
  }

  /** Asks an owner that starts its service on demand to start it now. */
  requestService(): void {
    this.#connection.write(`${serviceLine}\n`);
  }

  close(): void {
    this.#connection.destroy();
  }
}
