/**
 * Isolation layers of a runtime: in its store, in its DNS, in the files of its other bindings, and in the
 * isolate of the script (`pool-session.ts`).
 *
 * An isolation layer is to a test what a savepoint is to a SQLite transaction. Writes belong to the
 * layer that was opened last; closing a layer undoes the writes of the layer and of all layers
 * above it. Layers nest: a test file, each of its suites and each of their tests has a layer
 * (`vitest/task-layers.ts`), and so has a snapshot.
 *
 * A layer is a number. A later layer has a higher number than all earlier layers of the runtime, so
 * a call that arrives late is never taken for a call of a later test.
 *
 * `store/bucket/test-session.ts` and `worker/objects/zone-test-session.ts` hold the open layers in the
 * runtime; `base/undo-journal.ts` records the writes and undoes them. `isolation/state-files.ts` has the layers of
 * the files.
 */
import type { Controls } from "./controls.ts";

export class IsolationLayers {
  readonly #controls: Controls;
  #last = 0;
  #isolated: readonly ("store" | "dns")[] = ["store", "dns"];

  constructor(controls: Controls) {
    this.#controls = controls;
  }

  /** Leaves out the store or the DNS. */
  isolate(kinds: readonly string[]): void {
    this.#isolated = this.#isolated.filter((kind) => kinds.includes(kind));
  }

  /** @param snapshot the layer can be restored more than once, and has no faults or calls */
  async open({ snapshot = false } = {}): Promise<number> {
    const layer = ++this.#last;
    await this.#open(layer, snapshot);
    return layer;
  }

  /** Undoes the writes of this layer and of all layers above it, and removes these layers. */
  async close(layer: number, next?: number): Promise<void> {
    const { session, state } = this.#controls;
    // First, so that calls from now on are late.
    session?.closeLayer(layer, next);
    const ours = Promise.all(
      this.#isolated.map(async (kind) => this.#controls[kind]?.closeLayer(layer, next)),
    );
    const step = `close?layer=${layer}${next === undefined ? "" : `&next=${next}`}`;
    await (state === undefined ? ours : state(step, ours));
  }

  /** Closes a layer and opens another in its place, in one round trip. */
  async replace(layer: number): Promise<number> {
    const next = ++this.#last;
    await this.close(layer, next);
    return next;
  }

  /** Undoes the writes since the snapshot. The snapshot stays open. */
  async restore(snapshot: number): Promise<void> {
    await this.close(snapshot);
    await this.#open(snapshot, true);
  }

  async #open(layer: number, snapshot: boolean): Promise<void> {
    const { session, state } = this.#controls;
    session?.openLayer(layer, snapshot);
    const ours = Promise.all(
      this.#isolated.map(async (kind) => this.#controls[kind]?.openLayer(layer, snapshot)),
    );
    await (state === undefined ? ours : state(`open?layer=${layer}`, ours));
  }
}
