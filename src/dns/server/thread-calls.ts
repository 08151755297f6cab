/** Calls from the main thread to a listener thread, over the port that every thread has. */
import type { MessagePort, Worker } from "node:worker_threads";

type Methods = Record<string, (...args: never[]) => unknown>;

interface Request {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

type Reply = { readonly id: number } & (
  | { readonly result: unknown }
  | { readonly error: { readonly message: string; readonly code: string | undefined } }
);

/** In the thread. */
export function answerCalls(port: MessagePort, methods: Methods): void {
  port.on("message", async ({ id, method, args }: Request) => {
    try {
      const result = await methods[method]!(...(args as never[]));
      port.postMessage({ id, result } satisfies Reply);
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      port.postMessage({ id, error: { message, code } } satisfies Reply);
    }
  });
}

/** In the main thread. A thread that ends fails the calls that wait for it. */
export class Calls<Answering extends Methods> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #count = 0;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (reply: Reply) => {
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if ("error" in reply) {
        const { message, code } = reply.error;
        waiting?.reject(Object.assign(new Error(message), { code }));
      } else {
        waiting?.resolve(reply.result);
      }
    });
    worker.once("exit", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the thread has ended"));
      this.#waiting.clear();
    });
  }

  call<Method extends keyof Answering & string>(
    method: Method,
    ...args: Parameters<Answering[Method]>
  ): Promise<Awaited<ReturnType<Answering[Method]>>> {
    const id = this.#count++;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    const request: Request = { id, method, args };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    this.#worker.postMessage(request);
    return waiting.promise as Promise<Awaited<ReturnType<Answering[Method]>>>;
  }
}
