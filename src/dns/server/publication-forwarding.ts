/** Publications from the first listener thread to the others, which acknowledge each message. */
import type { MessagePort } from "node:worker_threads";
import type { Publication } from "../replication/publication.ts";

export class PublicationForwarder {
  readonly #threads: { readonly port: MessagePort; readonly pending: (() => void)[] }[] = [];

  /** @param ports a port to each of the other threads */
  constructor(ports: readonly MessagePort[]) {
    for (const port of ports) {
      const pending: (() => void)[] = [];
      const thread = { port, pending };
      this.#threads.push(thread);
      // A thread applies messages in order, so an acknowledgement is for the oldest message.
      port.on("message", () => pending.shift()?.());
      // A thread that has ended answers no queries, so no caller needs to wait for it.
      port.on("close", () => {
        this.#threads.splice(this.#threads.indexOf(thread), 1);
        for (const acknowledge of pending) acknowledge();
      });
    }
  }

  /** Resolves when every thread has acknowledged the publications. */
  async send(publications: readonly Publication[]): Promise<void> {
    await Promise.all(
      this.#threads.map(
        ({ port, pending }) =>
          new Promise<void>((resolve) => {
            pending.push(resolve);
            port.postMessage(publications);
          }),
      ),
    );
  }
}

/** Applies forwarded publications one message after another. A failure is acknowledged too. */
export function receiveForwarded(
  port: MessagePort,
  apply: (publications: readonly Publication[]) => Promise<void>,
): void {
  let previous = Promise.resolve();
  port.on("message", (publications: readonly Publication[]) => {
    previous = previous
      .then(() => apply(publications))
      .finally(() => port.postMessage(null))
      // `apply` reports its failures.
      .catch(() => {});
  });
}
