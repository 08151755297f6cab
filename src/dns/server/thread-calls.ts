/** Calls from the main thread to a listener thread, over the message port of the thread. */
import type { MessagePort, Worker } from "node:worker_threads";

type Methods = Record<string, (...args: never[]) => unknown>;

interface CallMessage {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

type ReplyMessage = { readonly id: number } & (
  | { readonly result: unknown }
  | { readonly error: { readonly message: string; readonly code: string | undefined } }
);

/** The side of the thread. */
export function serveThreadCalls(port: MessagePort, methods: Methods): void {
  port.on("message", async ({ id, method, args }: CallMessage) => {
    try {
      const result = await methods[method]!(...(args as never[]));
      port.postMessage({ id, result } satisfies ReplyMessage);
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      port.postMessage({ id, error: { message, code } } satisfies ReplyMessage);
    }
  });
}

/** The side of the main thread. Pending calls fail when the thread ends. */
export class ThreadCaller<Served extends Methods> {
  readonly #worker: Worker;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #count = 0;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (reply: ReplyMessage) => {
      const pending = this.#pending.get(reply.id);
      this.#pending.delete(reply.id);
      if ("error" in reply) {
        const { message, code } = reply.error;
        pending?.reject(Object.assign(new Error(message), { code }));
      } else {
        pending?.resolve(reply.result);
      }
    });
    worker.once("exit", () => {
      for (const { reject } of this.#pending.values()) reject(new Error("the thread has ended"));
      this.#pending.clear();
    });
  }

  call<Method extends keyof Served & string>(
    method: Method,
    ...args: Parameters<Served[Method]>
  ): Promise<Awaited<ReturnType<Served[Method]>>> {
    const id = this.#count++;
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(id, pending);
    const message: CallMessage = { id, method, args };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    this.#worker.postMessage(message);
    return pending.promise as Promise<Awaited<ReturnType<Served[Method]>>>;
  }
}
