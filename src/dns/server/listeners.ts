/**
 * The main thread's side of UDP and TCP: starts the listener threads, which load all zones before
 * they bind their sockets. Queries are answered in threads so that they do not wait for other work
 * of this process.
 *
 * A thread that ends while the ports are open is started again, with new channels to the other
 * threads: it loads the zones and binds the same port. The first thread receives publications at the
 * same address as before; the companion worker repeats those that were lost meanwhile.
 */
import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { MessageChannel, Worker, type MessagePort } from "node:worker_threads";
import type { ListenConfig } from "../config/dns-table.ts";
import type { ListenerThreadCalls, ThreadData } from "./listener-thread.ts";
import type { BindOptions, BoundSockets } from "./sockets.ts";
import { ThreadCaller } from "./thread-calls.ts";

type ListenersOptions = Pick<ThreadData, "platformAddresses" | "resolvers" | "transfers"> &
  Pick<ListenConfig, "threads">;
/** What all threads have in common. */
type SharedData = Omit<ThreadData, "forwardingPorts">;
type OpenOptions = Pick<BindOptions, "hosts" | "hostsOptional" | "port">;
export type OpenPorts = Pick<BoundSockets, "hosts" | "port">;

interface Thread {
  readonly worker: Worker;
  readonly caller: ThreadCaller<ListenerThreadCalls>;
  readonly startedMilliseconds: number;
  /** The ends of its predecessors in a row, each soon after its start */
  readonly failures: number;
}

/** Each thread has its own copy of the zones, and every write waits for all threads. */
const threadsMax = 4;

/** Between the end of a thread and its next start: a thread that always fails takes no processor. */
const restartMilliseconds = [0, 100, 1000, 10_000];
/** A thread that has run for this long has not failed at its start. */
const steadyMilliseconds = 30_000;

/** The first thread has TCP and so the transfers; it alone notifies secondaries. */
function withoutNotify(shared: SharedData): SharedData {
  return { ...shared, transfers: { ...shared.transfers, secondaries: [] } };
}

export class Listeners {
  readonly secret: string;
  /** The address to which the companion worker sends publications. */
  readonly address: string;
  readonly #shared: SharedData;
  #first: Thread;
  #others: readonly Thread[];
  #origin = "";
  /** `null` until the ports are open: until then the end of a thread fails the start. */
  #bound: (OpenPorts & Pick<BindOptions, "reusePort">) | null = null;
  /** Aborted when the listeners stop. */
  readonly #end = new AbortController();
  /** Threads start again one after the other. */
  #restarts: Promise<void> = Promise.resolve();

  private constructor(
    shared: SharedData,
    address: string,
    threads: readonly [Thread, ...Thread[]],
  ) {
    const [first, ...others] = threads;
    this.#shared = shared;
    this.secret = shared.secret;
    this.address = address;
    this.#first = first;
    this.#others = others;
    for (const thread of threads) this.#watch(thread);
  }

  static async start(options: ListenersOptions): Promise<Listeners> {
    const { threads = defaultThreads(), platformAddresses, resolvers, transfers } = options;
    const secret = randomBytes(24).toString("hex");
    const shared = {
      secret,
      platformAddresses,
      resolvers,
      transfers,
    };
    const channels = Array.from({ length: threads - 1 }, () => new MessageChannel());
    const first = startThread({ ...shared, forwardingPorts: channels.map(({ port1 }) => port1) });
    const others = channels.map(({ port2 }) =>
      startThread({ ...withoutNotify(shared), forwardingPorts: [port2] }),
    );
    try {
      const [address] = await Promise.all([
        first.caller.call("receivePublications"),
        ...others.map(({ caller }) => caller.call("receiveForwarded")),
      ]);
      return new Listeners(shared, address, [first, ...others]);
    } catch (error) {
      await Promise.all([first, ...others].map(({ worker }) => worker.terminate()));
      throw error;
    }
  }

  /** Every thread loads the zones of the companion worker at `origin`. */
  async load(origin: string): Promise<void> {
    this.#origin = origin;
    const threads = [this.#first, ...this.#others];
    await Promise.all(threads.map(({ caller }) => caller.call("load", origin)));
  }

  /** Fails with EADDRINUSE when the port is taken; the caller may then try another port. */
  async open(options: OpenOptions): Promise<OpenPorts> {
    const { port, hosts, reusePort } = await this.#bindFirst(options);
    this.#bound = { port, hosts, reusePort };
    const sharing = await Promise.all(
      this.#others.map(async (thread) => {
        try {
          await thread.caller.call("bind", otherBind({ port, hosts }));
          return thread;
        } catch {
          // On systems where sockets cannot share a port, the first thread answers all queries.
          return null;
        }
      }),
    );
    const ended = this.#others.filter((thread) => !sharing.includes(thread));
    this.#others = sharing.filter((thread) => thread !== null);
    await Promise.all(ended.map(({ worker }) => worker.terminate()));
    return { hosts, port };
  }

  async #bindFirst(options: OpenOptions): Promise<OpenPorts & Pick<BindOptions, "reusePort">> {
    const bind = async (reusePort: boolean) => {
      const wanted = { ...options, tcp: true, reusePort };
      return { ...(await this.#first.caller.call("bind", wanted)), reusePort };
    };
    if (this.#others.length === 0) return bind(false);
    try {
      return await bind(true);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EADDRINUSE" || code === "EACCES") throw error;
      return bind(false);
    }
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#restarts;
    await Promise.all(
      [this.#first, ...this.#others].map(async ({ worker, caller }) => {
        // The call fails when the thread has ended already.
        await caller.call("stop").catch(() => {});
        await worker.terminate();
      }),
    );
  }

  #watch(thread: Thread): void {
    thread.worker.once("exit", () => {
      const isInUse = thread === this.#first || this.#others.includes(thread);
      if (this.#end.signal.aborted || this.#bound === null || !isInUse) return;
      const isSteady = performance.now() - thread.startedMilliseconds > steadyMilliseconds;
      const failures = isSteady ? 0 : thread.failures + 1;
      const pause = restartMilliseconds[failures] ?? restartMilliseconds.at(-1);
      void wait(pause, undefined, { ref: false, signal: this.#end.signal }).then(
        () => (this.#restarts = this.#restarts.then(() => this.#restart(thread, failures))),
        // The listeners stop.
        () => {},
      );
    });
  }

  async #restart(ended: Thread, failures: number): Promise<void> {
    if (this.#end.signal.aborted) return;
    console.error("A DNS listener thread has ended, and starts again.");
    const isFirst = ended === this.#first;
    const channels = isFirst
      ? this.#others.map(() => new MessageChannel())
      : [new MessageChannel()];
    const thread = isFirst
      ? startThread(
          { ...this.#shared, forwardingPorts: channels.map(({ port1 }) => port1) },
          failures,
        )
      : startThread(
          { ...withoutNotify(this.#shared), forwardingPorts: [channels[0]!.port2] },
          failures,
        );
    if (isFirst) this.#first = thread;
    else this.#others = this.#others.map((other) => (other === ended ? thread : other));
    this.#watch(thread);
    try {
      if (isFirst) await this.#receiveAgain(thread, channels);
      else await this.#forwardAgain(thread, channels[0]!);
      await thread.caller.call("load", this.#origin);
      await thread.caller.call("bind", this.#rebind(isFirst));
    } catch (error) {
      if (!this.#end.signal.aborted) console.error("A DNS listener thread does not start:", error);
      // Its end starts the next try.
      await thread.worker.terminate();
    }
  }

  /** The new first thread receives publications at the address of the last one. */
  async #receiveAgain(first: Thread, channels: readonly MessageChannel[]): Promise<void> {
    await Promise.all(
      this.#others.map(({ caller }, at) => {
        const { port2 } = channels[at]!;
        // A thread that has ended too gets another channel when it starts again. Calls through a
        // closed channel fail at once.
        return caller.call("receiveFrom", port2).catch(() => port2.close());
      }),
    );
    const port = Number(this.address.slice(this.address.lastIndexOf(":") + 1));
    await first.caller.call("receivePublications", port);
  }

  /** Before the zones are loaded, so that no publication is missed. */
  async #forwardAgain(other: Thread, { port1 }: MessageChannel): Promise<void> {
    await other.caller.call("receiveForwarded");
    await this.#first.caller.call("forwardTo", port1);
  }

  #rebind(isFirst: boolean): Omit<BindOptions, "handler"> {
    const { hosts, port, reusePort } = this.#bound!;
    if (!isFirst) return otherBind({ hosts, port });
    return { hosts, port, reusePort, tcp: true, hostsOptional: false, isShared: true };
  }
}

function otherBind({ hosts, port }: OpenPorts): Omit<BindOptions, "handler"> {
  return { hosts, port, tcp: false, reusePort: true, hostsOptional: false };
}

/** Half of the processors: local clients need the other half (docs/dns.md). */
function defaultThreads(): number {
  return Math.min(threadsMax, Math.max(1, Math.floor(availableParallelism() / 2)));
}

/**
 * For what a query leaves behind. Without a limit, a thread that has loaded a zone of 100,000 records
 * keeps 120 MiB more.
 */
const maxYoungGenerationSizeMb = 16;

function startThread(data: ThreadData, failures = 0): Thread {
  const worker = new Worker(new URL("./dns-listener.js", import.meta.url), {
    workerData: data,
    transferList: data.forwardingPorts as MessagePort[],
    resourceLimits: { maxYoungGenerationSizeMb },
  });
  worker.on("error", (error) => console.error("A DNS listener thread failed:", error));
  const caller = new ThreadCaller<ListenerThreadCalls>(worker);
  return { worker, caller, startedMilliseconds: performance.now(), failures };
}
