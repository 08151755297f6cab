/** Publications from the lead to the other threads, each of which says when it has taken them. */
import type { MessagePort } from "node:worker_threads";
import type { Publication } from "../replication/publication.ts";

export class Relay {
  readonly #peers: { readonly port: MessagePort; readonly waiting: (() => void)[] }[] = [];

  constructor(ports: readonly MessagePort[]) {
    for (const port of ports) {
      const waiting: (() => void)[] = [];
      const peer = { port, waiting };
      this.#peers.push(peer);
      // Messages are taken one after another, so the oldest is always the one that is done.
      port.on("message", () => waiting.shift()?.());
      // A thread that is gone answers no queries either.
      port.on("close", () => {
        this.#peers.splice(this.#peers.indexOf(peer), 1);
        for (const done of waiting) done();
      });
    }
  }

  async send(publications: readonly Publication[]): Promise<void> {
    await Promise.all(
      this.#peers.map(
        ({ port, waiting }) =>
          new Promise<void>((resolve) => {
            waiting.push(resolve);
            port.postMessage(publications);
          }),
      ),
    );
  }

  static receive(
    port: MessagePort,
    take: (publications: readonly Publication[]) => Promise<void>,
  ): void {
    let before = Promise.resolve();
    port.on("message", (publications: readonly Publication[]) => {
      before = before
        .then(() => take(publications))
        .finally(() => port.postMessage(null))
        // Whoever takes has said what was wrong; the next is taken all the same.
        .catch(() => {});
    });
  }
}
