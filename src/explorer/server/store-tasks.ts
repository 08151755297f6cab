/** To be written. */
import type { StoreClient } from "../../store/node/store-client.ts";
import { CallError } from "./call.ts";
import type { Task } from "../api/tasks.ts";
import type { Tasks } from "./tasks.ts";

export class StoreTasks implements Tasks {
  readonly #store: StoreClient;

  constructor(store: StoreClient) {
    this.#store = store;
  }

  list(): readonly Task[] {
    return [];
  }

  start(): Promise<Task> {
    throw new CallError(501, `Not yet: ${this.#store.constructor.name}`);
  }

  cancel(): Task {
    throw new CallError(404, "There is no such task.");
  }

  async close(): Promise<void> {}
}
