/**
 * Runtimes that watch mode reuses.
 *
 * vitest stops a worker of its pool after every run, and starts a worker for the next run. In watch
 * mode the start of the runtime is most of the waiting time. So the runtime of a stopped worker
 * stays alive, and the next run connects to it. The test runner resets the runtime at the end of a
 * run (`runner.ts`).
 */
import type { Pool } from "./find-pool.ts";

/** The part of a worker of vitest's pool that is used. */
interface PoolWorker {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  send(message: unknown): void;
  on(event: string, callback: (value: unknown) => void): void;
  off(event: string, callback: (value: unknown) => void): void;
  deserialize(data: unknown): unknown;
}

/** A worker of the Workers pool, with its runtime and its connection. */
interface RuntimeWorker extends PoolWorker {
  mf?: unknown;
  socket?: { close(): void } | undefined;
}

export interface PoolRunner {
  readonly name: string;
  createPoolWorker(options: { project: object }): PoolWorker;
}

export class ReusedRuntimes {
  readonly #pool: Pool;
  readonly #idle = new Map<object, RuntimeWorker[]>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** A pool runner whose workers reuse the runtimes of stopped workers. */
  wrap(runner: PoolRunner): PoolRunner {
    return {
      name: runner.name,
      createPoolWorker: (options) => this.#makeWorker(runner, options),
    };
  }

  /** Stops the runtimes that no worker uses. */
  async dispose(): Promise<void> {
    const idle = [...this.#idle.values()].flat();
    this.#idle.clear();
    await Promise.all(idle.map((worker) => worker.stop()));
  }

  #makeWorker(runner: PoolRunner, options: { project: object }): PoolWorker {
    const { project } = options;
    const reused = this.#idle.get(project)?.pop();
    const worker: RuntimeWorker = reused ?? runner.createPoolWorker(options);
    const start = async (): Promise<void> => {
      if (reused === undefined) return worker.start();
      worker.socket = (await this.#pool.connectToMiniflareSocket(
        worker.mf,
        this.#pool.getRunnerName(project),
      )) as { close(): void };
    };
    const stop = async (): Promise<void> => {
      // A worker without these fields is of an unknown version, and cannot be reused.
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
