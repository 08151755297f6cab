/**
 * The main thread's side of UDP, TCP and TLS: starts the listener thread, which loads all zones before it
 * binds its sockets. Queries are answered in a thread so that they do not wait for other work of this
 * process.
 *
 * When the thread ends while the ports are open, a new thread is started: it loads the zones and
 * binds the same ports. It receives publications at the same address as before; the companion worker
 * repeats those that were lost meanwhile.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { UserError } from "../../base/user-error.ts";
import type { ServerIdentity } from "../../tls/authority.ts";
import type { ThreadCalls, ThreadData, ThreadReply } from "./listener-thread.ts";
import type { BindOptions, OpenPorts } from "./sockets.ts";

/** Between the end of a thread and its next start: a thread that always fails takes no processor. */
const restartMilliseconds = [0, 100, 1000, 10_000];
/** A thread that has run for this long has not failed at its start. */
const steadyMilliseconds = 30_000;
/**
 * For what a query leaves behind. Without a limit, a thread that has loaded a zone of 100,000 records
 * keeps 120 MiB more.
 */
const maxYoungGenerationSizeMb = 16;

export interface Listeners {
  readonly secret: string;
  /** The address to which the companion worker sends publications. */
  readonly address: string;
  /** Loads the zones of the companion worker at `origin`. Ports are opened afterwards. */
  load(origin: string): Promise<void>;
  /** Loads the zones again, after a start of the companion worker: the state may be another. */
  reload(): Promise<void>;
  /** A port that is taken gives way to any free port. */
  open(options: BindOptions): Promise<OpenPorts>;
  /** Gives new connections of TLS another certificate. */
  renew(identity: ServerIdentity): void;
  stop(): Promise<void>;
}

export async function startListeners(options: Omit<ThreadData, "secret">): Promise<Listeners> {
  const { platformAddresses, resolvers, transfers } = options;
  const secret = randomBytes(24).toString("hex");
  const data = { secret, platformAddresses, resolvers, transfers };
  let thread = startThread(data);
  let workerOrigin = "";
  /** Empty until a port is open: until then the end of the thread fails the start. */
  let bound: readonly BindOptions[] = [];
  /** Restarts and renewals, one after the other. */
  let changes: Promise<void> = Promise.resolve();
  const end = new AbortController();

  /** @param failures the ends of threads in a row, each soon after its start */
  const watch = (watched: Worker, failures: number): void => {
    const start = performance.now();
    watched.once("exit", () => {
      if (end.signal.aborted || bound.length === 0) return;
      const isSteady = performance.now() - start > steadyMilliseconds;
      changes = restart(isSteady ? 0 : failures + 1);
    });
  };

  const restart = async (failures: number): Promise<void> => {
    const pause = restartMilliseconds[failures] ?? restartMilliseconds.at(-1);
    const { signal } = end;
    await wait(pause, undefined, { ref: false, signal }).catch(() => {});
    if (signal.aborted) return;
    console.error("A DNS listener thread has ended, and starts again.");
    const next = startThread(data);
    thread = next;
    watch(next, failures);
    try {
      await call(next, "receivePublications", Number(address.slice(address.lastIndexOf(":") + 1)));
      await call(next, "load", workerOrigin);
      for (const ports of bound) await call(next, "bind", ports);
    } catch (error) {
      if (!signal.aborted) console.error("A DNS listener thread does not start:", error);
      // Its end starts the next try.
      await next.terminate();
    }
  };

  let address: string;
  try {
    address = await call(thread, "receivePublications", 0);
  } catch (error) {
    await thread.terminate();
    throw error;
  }
  watch(thread, 0);
  return {
    secret,
    address,
    async load(origin) {
      workerOrigin = origin;
      await call(thread, "load", origin).catch((error: NodeJS.ErrnoException) => {
        throw error.code === "EEXIST" ? new UserError(error.message) : error;
      });
    },
    async reload() {
      if (workerOrigin !== "") await call(thread, "reload", workerOrigin);
    },
    async open({ hosts, hostsOptional, port, identity }) {
      const bind = (at: number) =>
        call(thread, "bind", { hosts, hostsOptional, port: at, identity });
      const ports = await bind(port).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "EADDRINUSE") return bind(0);
        if (error.code !== "EACCES" && error.code !== "EADDRNOTAVAIL") throw error;
        throw new UserError(
          `Cannot listen at port ${port} of ${hosts.join(", ")}: ${error.message}. ` +
            "Ports below 1024 need special rights; dns.hosts must be addresses of this machine.",
        );
      });
      bound = [...bound, { ...ports, hostsOptional: false, identity }];
      return ports;
    },
    renew(identity) {
      bound = bound.map((ports) => (ports.identity ? { ...ports, identity } : ports));
      // A thread that has ended meanwhile starts again with the new certificate.
      changes = changes.then(() => call(thread, "renew", identity)).catch(() => {});
    },
    async stop() {
      end.abort();
      await changes;
      // The call fails when the thread has ended already.
      await call(thread, "stop").catch(() => {});
      await thread.terminate();
    },
  };
}

function startThread(workerData: ThreadData): Worker {
  const thread = new Worker(new URL("./dns-listener.js", import.meta.url), {
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb },
  });
  thread.on("error", (error) => console.error("A DNS listener thread failed:", error));
  return thread;
}

/** One call at a time. Fails when the thread has ended or ends. */
async function call<Method extends keyof ThreadCalls>(
  thread: Worker,
  method: Method,
  ...[argument]: Parameters<ThreadCalls[Method]>
): Promise<Awaited<ReturnType<ThreadCalls[Method]>>> {
  const reply = await new Promise<ThreadReply>((resolve, reject) => {
    const fail = (): void => reject(new Error("the thread has ended"));
    // The id of a thread that has ended.
    if (thread.threadId === -1) return fail();
    thread.once("exit", fail);
    thread.once("message", (received: ThreadReply) => {
      thread.off("exit", fail);
      resolve(received);
    });
    thread.postMessage({ method, argument }, []);
  });
  if ("result" in reply) return reply.result as Awaited<ReturnType<ThreadCalls[Method]>>;
  const { message, code } = reply.error;
  throw Object.assign(new Error(message), { code });
}
