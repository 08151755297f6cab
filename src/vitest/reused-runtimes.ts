/**
 * Runtimes that outlive a run.
 *
 * vitest ends a worker of its pool after every run, and starts another for the next. In watch mode
 * that is most of what one waits for, so the runtime behind the worker is kept, and the next run
 * connects to it anew. The runner leaves it as it found it.
 */
import type { Pool } from "./find-pool.ts";

/** A worker of vitest's pool, as far as it is looked at. */
interface PoolWorker {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  send(message: unknown): void;
  on(event: string, callback: (value: unknown) => void): void;
  off(event: string, callback: (value: unknown) => void): void;
  deserialize(data: unknown): unknown;
}

/** What the pool's worker has inside. */
interface Connected extends PoolWorker {
  mf?: unknown;
  socket?: { close(): void } | undefined;
}

export interface PoolRunner {
  readonly name: string;
  createPoolWorker(options: { project: object }): PoolWorker;
}

export class ReusedRuntimes {
  readonly #pool: Pool;
  readonly #idle = new Map<object, Connected[]>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  around(runner: PoolRunner): PoolRunner {
    return {
      name: runner.name,
      createPoolWorker: (options) => this.#worker(runner, options),
    };
  }

  /** Ends the runtimes that nobody uses. */
  async dispose(): Promise<void> {
    const idle = [...this.#idle.values()].flat();
    this.#idle.clear();
    await Promise.all(idle.map((worker) => worker.stop()));
  }

  #worker(runner: PoolRunner, options: { project: object }): PoolWorker {
    const { project } = options;
    const kept = this.#idle.get(project)?.pop();
    const worker: Connected = kept ?? runner.createPoolWorker(options);
    const start = async (): Promise<void> => {
      if (kept === undefined) return worker.start();
      worker.socket = (await this.#pool.connectToMiniflareSocket(
        worker.mf,
        this.#pool.getRunnerName(project),
      )) as { close(): void };
    };
    const stop = async (): Promise<void> => {
      // A worker of a shape that is not known is ended as vitest asks for.
      if (worker.mf === undefined || worker.socket === undefined) return worker.stop();
      worker.socket.close();
      worker.socket = undefined;
      this.#idle.set(project, [...(this.#idle.get(project) ?? []), worker]);
    };
    return {
      name: worker.name,
      start,
      stop,
      send: (message) => worker.send(message),
      on: (event, callback) => worker.on(event, callback),
      off: (event, callback) => worker.off(event, callback),
      deserialize: (data) => worker.deserialize(data),
    };
  }
}
