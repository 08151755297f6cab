/**
 * UDP and TCP, seen from the main thread: starts the threads, and has them load all zones before
 * anything is answered. They are threads of their own so that answers do not wait for whatever
 * else this process does.
 */
import { randomBytes } from "node:crypto";
import { availableParallelism, hostname } from "node:os";
import { MessageChannel, Worker, type MessagePort } from "node:worker_threads";
import { Calls } from "./thread-calls.ts";
import type { TransferConfig } from "../../config/dns-transfers.ts";
import type { ThreadCalls, ThreadData } from "./thread.ts";

export interface ListenersOptions {
  readonly platformAddresses: readonly string[];
  /** Servers for names elsewhere; the system's when there are none. */
  readonly resolvers: readonly string[];
  readonly threads?: number;
  readonly transfers: TransferConfig;
}

export interface OpenOptions {
  readonly hosts: readonly string[];
  readonly hostsOptional: boolean;
  readonly port: number;
}

export interface OpenPorts {
  readonly hosts: readonly string[];
  readonly port: number;
  readonly threads: number;
}

interface Thread {
  readonly worker: Worker;
  readonly calls: Calls<ThreadCalls>;
}

/** Each has the zones in its own memory, and every write waits for all of them. */
const threadsMax = 4;

export class Listeners {
  readonly secret: string;
  /** Where the companion worker tells of changes. */
  readonly address: string;
  readonly #lead: Thread;
  #others: readonly Thread[];

  private constructor(
    secret: string,
    address: string,
    { lead, others }: { lead: Thread; others: readonly Thread[] },
  ) {
    this.secret = secret;
    this.address = address;
    this.#lead = lead;
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
    // Transfers are made by TCP, which the lead has; it alone tells secondaries, too.
    const following = { ...shared, transfers: { ...transfers, secondaries: [] } };
    const channels = Array.from({ length: threads - 1 }, () => new MessageChannel());
    const lead = startThread({ ...shared, peers: channels.map(({ port1 }) => port1) });
    const others = channels.map(({ port2 }) => startThread({ ...following, peers: [port2] }));
    try {
      const [address] = await Promise.all([
        lead.calls.call("lead"),
        ...others.map(({ calls }) => calls.call("follow")),
      ]);
      return new Listeners(secret, address, { lead, others });
    } catch (error) {
      await Promise.all([lead, ...others].map(({ worker }) => worker.terminate()));
      throw error;
    }
  }

  /** Loads the zones of the worker at `origin`, for every thread. */
  async load(origin: string): Promise<void> {
    const threads = [this.#lead, ...this.#others];
    await Promise.all(threads.map(({ calls }) => calls.call("load", origin)));
  }

  /** Fails with EADDRINUSE when the port is taken, and may then be tried with another. */
  async open(options: OpenOptions): Promise<OpenPorts> {
    const bound = await this.#bindLead(options);
    const { port, hosts } = bound;
    const shared = { hosts, port, tcp: false, reusePort: true, hostsOptional: false };
    const followed = await Promise.all(
      this.#others.map(async (thread) => {
        try {
          await thread.calls.call("bind", shared);
          return thread;
        } catch {
          // Where sockets cannot share a port, one thread answers alone.
          await thread.worker.terminate();
          return null;
        }
      }),
    );
    this.#others = followed.filter((thread) => thread !== null);
    return { hosts, port, threads: 1 + this.#others.length };
  }

  async #bindLead(options: OpenOptions): Promise<{ hosts: readonly string[]; port: number }> {
    const alone = { ...options, tcp: true, reusePort: false };
    if (this.#others.length === 0) return this.#lead.calls.call("bind", alone);
    try {
      return await this.#lead.calls.call("bind", { ...alone, reusePort: true });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EADDRINUSE" || code === "EACCES") throw error;
      return this.#lead.calls.call("bind", alone);
    }
  }

  async stop(): Promise<void> {
    await Promise.all(
      [this.#lead, ...this.#others].map(async ({ worker, calls }) => {
        // One that has ended on its own has nothing left to stop.
        await calls.call("stop").catch(() => {});
        await worker.terminate();
      }),
    );
  }
}

/** Half of the processors: whoever asks, on the same machine, needs as many (docs/dns.md). */
function defaultThreads(): number {
  return Math.min(threadsMax, Math.max(1, Math.floor(availableParallelism() / 2)));
}

function startThread(data: ThreadData): Thread {
  const worker = new Worker(new URL("./dns-listener.js", import.meta.url), {
    workerData: data,
    transferList: data.peers as MessagePort[],
  });
  worker.on("error", (error) => console.error("A DNS listener has failed:", error));
  return { worker, calls: new Calls<ThreadCalls>(worker) };
}
