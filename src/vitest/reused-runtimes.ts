/**
 * Runtimes that watch mode reuses.
 *
 * vitest stops a worker of its pool after every run, and starts a worker for the next run. In watch
 * mode the start of the runtime is most of the waiting time. So the runtime of a stopped worker
 * stays alive, and the next run connects to it. The test runner resets the runtime at the end of a
 * run (`runner.ts`).
 */
import type { PoolOptions, PoolRunnerInitializer, PoolWorker } from "vitest/node";
import type { Pool } from "./find-pool.ts";

export class ReusedRuntimes {
  readonly #pool: Pool;
  readonly #idle = new Map<object, PoolWorker[]>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** A pool runner whose workers reuse the runtimes of stopped workers. */
  wrap(runner: PoolRunnerInitializer): PoolRunnerInitializer {
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

  #makeWorker(runner: PoolRunnerInitializer, options: PoolOptions): PoolWorker {
    const { project } = options;
    const reused = this.#idle.get(project)?.pop();
    const worker: PoolWorker = reused ?? runner.createPoolWorker(options);
    return {
      name: worker.name,
      start: async () => {
        if (reused === undefined) await worker.start();
        else await this.#pool.reconnect(worker, project);
      },
      stop: async () => {
        if (!this.#pool.disconnect(worker)) return worker.stop();
        this.#idle.set(project, [...(this.#idle.get(project) ?? []), worker]);
      },
      send: (message) => worker.send(message),
      on: (event, callback) => worker.on(event, callback),
      off: (event, callback) => worker.off(event, callback),
      deserialize: (data) => worker.deserialize(data),
    };
  }
}
