/**
 * Layers of isolation of a runtime, in the store and in DNS alike.
 *
 * A later layer has a higher number than an earlier one, for as long as the runtime lives.
 */
import type { Controls } from "./controls.ts";

export class Layers {
  readonly #controls: Controls;
  #last = 0;

  constructor(controls: Controls) {
    this.#controls = controls;
  }

  async open({ snapshot = false } = {}): Promise<number> {
    const layer = ++this.#last;
    await this.#reopen(layer, snapshot);
    return layer;
  }

  /** Undoes what was written in this layer and in those above it, and ends them. */
  async close(layer: number, next?: number): Promise<void> {
    const { store, dns } = this.#controls;
    await Promise.all([store.closeLayer(layer, next), dns?.closeLayer(layer, next)]);
  }

  /** Closes a layer and opens another in its place, which takes no longer than one of the two. */
  async replace(layer: number): Promise<number> {
    const next = ++this.#last;
    await this.close(layer, next);
    return next;
  }

  /** Back to how things were when the snapshot was taken, as often as one likes. */
  async restore(snapshot: number): Promise<void> {
    await this.close(snapshot);
    await this.#reopen(snapshot, true);
  }

  async #reopen(layer: number, snapshot: boolean): Promise<void> {
    const { store, dns } = this.#controls;
    await Promise.all([store.openLayer(layer, snapshot), dns?.openLayer(layer)]);
  }
}
