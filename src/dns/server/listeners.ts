/**
 * The main thread's side of UDP and TCP: starts the listener threads, which load all zones before
 * they bind their sockets. Queries are answered in threads so that they do not wait for other work
 * of this process.
 */
import { randomBytes } from "node:crypto";
import { availableParallelism, hostname } from "node:os";
import { MessageChannel, Worker, type MessagePort } from "node:worker_threads";
import type { ListenConfig } from "../../config/dns-table.ts";
import type { ListenerThreadCalls, ThreadData } from "./listener-thread.ts";
import type { BindOptions, BoundSockets } from "./sockets.ts";
import { ThreadCaller } from "./thread-calls.ts";

type ListenersOptions = Pick<ThreadData, "platformAddresses" | "resolvers" | "transfers"> &
  Pick<ListenConfig, "threads">;
type OpenOptions = Pick<BindOptions, "hosts" | "hostsOptional" | "port">;
export type OpenPorts = Pick<BoundSockets, "hosts" | "port">;

interface Thread {
  readonly worker: Worker;
  readonly caller: ThreadCaller<ListenerThreadCalls>;
}

/** Each thread has its own copy of the zones, and every write waits for all threads. */
const threadsMax = 4;

export class Listeners {
  readonly secret: string;
  /** The address to which the companion worker sends publications. */
  readonly address: string;
  readonly #first: Thread;
  #others: readonly Thread[];

  private constructor(
    { secret, address }: Pick<Listeners, "secret" | "address">,
    first: Thread,
    others: readonly Thread[],
  ) {
    this.secret = secret;
    this.address = address;
    this.#first = first;
    this.#others = others;
  }

  static async start(options: ListenersOptions): Promise<Listeners> {
    const { threads = defaultThreads(), platformAddresses, resolvers, transfers } = options;
    const secret = randomBytes(24).toString("hex");
    const shared = {
      secret,
      platformAddresses,
      resolvers,
      cookieSecret: new Uint8Array(randomBytes(16)),
      nsid: hostname(),
      transfers,
    };
    // The first thread has TCP and so the transfers; it alone notifies secondaries.
    const withoutNotify = { ...shared, transfers: { ...transfers, secondaries: [] } };
    const channels = Array.from({ length: threads - 1 }, () => new MessageChannel());
    const first = startThread({ ...shared, forwardingPorts: channels.map(({ port1 }) => port1) });
    const others = channels.map(({ port2 }) =>
      startThread({ ...withoutNotify, forwardingPorts: [port2] }),
    );
    try {
      const [address] = await Promise.all([
        first.caller.call("receivePublications"),
        ...others.map(({ caller }) => caller.call("receiveForwarded")),
      ]);
      return new Listeners({ secret, address }, first, others);
    } catch (error) {
      await Promise.all([first, ...others].map(({ worker }) => worker.terminate()));
      throw error;
    }
  }

  /** Every thread loads the zones of the companion worker at `origin`. */
  async load(origin: string): Promise<void> {
    const threads = [this.#first, ...this.#others];
    await Promise.all(threads.map(({ caller }) => caller.call("load", origin)));
  }

  /** Fails with EADDRINUSE when the port is taken; the caller may then try another port. */
  async open(options: OpenOptions): Promise<OpenPorts> {
    const { port, hosts } = await this.#bindFirst(options);
    const shared = { hosts, port, tcp: false, reusePort: true, hostsOptional: false };
    const sharing = await Promise.all(
      this.#others.map(async (thread) => {
        try {
          await thread.caller.call("bind", shared);
          return thread;
        } catch {
          // On systems where sockets cannot share a port, the first thread answers all queries.
          await thread.worker.terminate();
          return null;
        }
      }),
    );
    this.#others = sharing.filter((thread) => thread !== null);
    return { hosts, port };
  }

  async #bindFirst(options: OpenOptions): Promise<OpenPorts> {
    const unshared = { ...options, tcp: true, reusePort: false };
    if (this.#others.length === 0) return this.#first.caller.call("bind", unshared);
    try {
      return await this.#first.caller.call("bind", { ...unshared, reusePort: true });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EADDRINUSE" || code === "EACCES") throw error;
      return this.#first.caller.call("bind", unshared);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(
      [this.#first, ...this.#others].map(async ({ worker, caller }) => {
        // The call fails when the thread has ended already.
        await caller.call("stop").catch(() => {});
        await worker.terminate();
      }),
    );
  }
}

/** Half of the processors: local clients need the other half (docs/dns.md). */
function defaultThreads(): number {
  return Math.min(threadsMax, Math.max(1, Math.floor(availableParallelism() / 2)));
}

function startThread(data: ThreadData): Thread {
  const worker = new Worker(new URL("./dns-listener.js", import.meta.url), {
    workerData: data,
    transferList: data.forwardingPorts as MessagePort[],
  });
  worker.on("error", (error) => console.error("A DNS listener thread failed:", error));
  return { worker, caller: new ThreadCaller<ListenerThreadCalls>(worker) };
}
