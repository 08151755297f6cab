/**
 * Calls from one thread to another, over the message port between them. A message port among the
 * arguments moves to the called thread.
 */
import { MessagePort, Worker } from "node:worker_threads";

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

/** The side of the thread that is called. */
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

/** The side of the caller. Calls fail when the called thread has ended or ends. */
export class ThreadCaller<Served extends Methods> {
  readonly #port: Worker | MessagePort;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #count = 0;
  #ended = false;

  constructor(port: Worker | MessagePort) {
    this.#port = port;
    port.on("message", (reply: ReplyMessage) => {
      const pending = this.#pending.get(reply.id);
      this.#pending.delete(reply.id);
      if ("error" in reply) {
        const { message, code } = reply.error;
        pending?.reject(Object.assign(new Error(message), { code }));
      } else {
        pending?.resolve(reply.result);
      }
    });
    port.once(port instanceof Worker ? "exit" : "close", () => {
      this.#ended = true;
      for (const { reject } of this.#pending.values()) reject(threadEnded());
      this.#pending.clear();
    });
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  call<Method extends keyof Served & string>(
    method: Method,
    ...args: Parameters<Served[Method]>
  ): Promise<Awaited<ReturnType<Served[Method]>>> {
    if (this.#ended) return Promise.reject(threadEnded());
    const id = this.#count++;
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(id, pending);
    const ports = args.filter((value: unknown) => value instanceof MessagePort);
    this.#port.postMessage({ id, method, args } satisfies CallMessage, ports);
    return pending.promise as Promise<Awaited<ReturnType<Served[Method]>>>;
  }
}

function threadEnded(): Error {
  return new Error("the thread has ended");
}
