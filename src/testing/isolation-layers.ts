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
 * Store, DNS and files are parts with layers of their own, because a round trip to a part costs more than a short test.
 * A part opens a layer only if something may have been written to the part since its last layer was opened: otherwise
 * both layers begin with the same state, and share the layer of the part. So a test that writes nothing makes no round
 * trip. Writes are announced by `touch`, before they leave the isolate.
 *
 *     layers            1 file       2 suite        3 test        3 closed       4 test
 *     layers of a part  1            1              1, touched    5, in place of 1
 *
 * `store/bucket/test-session.ts` and `worker/objects/zone-test-session.ts` hold the open layers in the
 * runtime; `base/undo-journal.ts` records the writes and undoes them. `isolation/state-files.ts` has the layers of
 * the files.
 */
import type { Controls } from "./controls.ts";

/** The store, the DNS, and the files of the other bindings */
export type Part = "store" | "dns" | "state";

export class IsolationLayers {
  readonly #controls: Controls;
  readonly #parts = new Map<Part, PartLayers>();
  #last = 0;
  /** The changes of the parts, one after the other */
  #changes: Promise<void> = Promise.resolve();

  constructor(controls: Controls) {
    this.#controls = controls;
    for (const part of ["store", "dns", "state"] as const) {
      if (controls[part] !== undefined) this.#parts.set(part, new PartLayers());
    }
  }

  /**
   * @param kinds what is isolated: leaves out the store or the DNS
   * @param isAnnounced whether `touch` is called before each write
   */
  isolate(kinds: readonly string[], isAnnounced: boolean): void {
    for (const [part, layers] of this.#parts) {
      if (part !== "state" && !kinds.includes(part)) this.#parts.delete(part);
      layers.isTouchedAlways = !isAnnounced;
    }
  }

  /** Something is written to these parts now: to all parts if none is named. */
  touch(...parts: readonly Part[]): void {
    for (const [part, layers] of this.#parts) {
      if (parts.length === 0 || parts.includes(part)) layers.touch();
    }
  }

  /** From now on, these parts are written to without a call of `touch`: all parts if none is named. */
  touchAlways(...parts: readonly Part[]): void {
    this.touch(...parts);
    for (const [part, layers] of this.#parts) {
      if (parts.length === 0 || parts.includes(part)) layers.isTouchedAlways = true;
    }
  }

  /** The layer of a part that a call of this layer belongs to: 0, which is always open, while the part opens it. */
  layerIn(part: Part, layer: number): number {
    const opened = this.#parts.get(part)?.find(layer);
    return opened?.isOpen === true ? opened.id : 0;
  }

  /** @param snapshot the layer can be restored more than once, and has no faults or calls */
  async open({ snapshot = false } = {}): Promise<number> {
    const layer = ++this.#last;
    this.#controls.session?.openLayer(layer, snapshot);
    await this.#change((part) => part.open(layer, snapshot));
    return layer;
  }

  /** Undoes the writes of this layer and of all layers above it, and removes these layers. */
  async close(layer: number): Promise<void> {
    // First, so that calls from now on are late.
    this.#controls.session?.closeLayer(layer);
    const next = ++this.#last;
    await this.#change((part) => part.close(layer, next));
  }

  /** Undoes the writes since the snapshot. The snapshot stays open. */
  async restore(snapshot: number): Promise<void> {
    const { session } = this.#controls;
    session?.closeLayer(snapshot);
    session?.openLayer(snapshot, true);
    await this.#change((part) => part.restore(snapshot));
  }

  #change(decide: (part: PartLayers) => Change | null): Promise<void> {
    const changes = new Map<Part, Change>();
    for (const [part, layers] of this.#parts) {
      const change = decide(layers);
      if (change !== null) changes.set(part, change);
    }
    if (changes.size === 0) return this.#changes;
    const applied = this.#changes.then(() => this.#apply(changes));
    this.#changes = applied.catch(() => {});
    return applied;
  }

  async #apply(changes: ReadonlyMap<Part, Change>): Promise<void> {
    const { store, dns, state } = this.#controls;
    const ours = Promise.all([
      changeLayers(store, changes.get("store")),
      changeLayers(dns, changes.get("dns")),
    ]);
    const ofState = changes.get("state");
    await (ofState === undefined ? ours : state?.(stepOf(ofState), ours));
    for (const { opened } of changes.values()) if (opened !== undefined) opened.isOpen = true;
  }
}

/** The calls of a part that a change needs. */
async function changeLayers(
  part: Controls["store"] | Controls["dns"],
  { closed, opened }: Change = {},
): Promise<void> {
  if (closed !== undefined && opened?.snapshot === false) {
    await part?.closeLayer(closed.id, opened.id);
    return;
  }
  if (closed !== undefined) await part?.closeLayer(closed.id);
  if (opened !== undefined) await part?.openLayer(opened.id, opened.snapshot);
}

function stepOf({ closed, opened }: Change): string {
  if (closed === undefined) return `open?layer=${opened?.id}`;
  return `close?layer=${closed.id}${opened === undefined ? "" : `&next=${opened.id}`}`;
}

/** A layer of a part. */
interface PartLayer {
  readonly id: number;
  /** The first layer that has this layer of the part */
  readonly since: number;
  readonly snapshot: boolean;
  /** Whether something may have been written since the layer was opened */
  isTouched: boolean;
  /** `false` until the part has opened the layer */
  isOpen: boolean;
}

/** What a part has to do: the layers above `closed` are closed too. */
interface Change {
  readonly closed?: PartLayer;
  readonly opened?: PartLayer;
}

class PartLayers {
  isTouchedAlways = true;
  /** Outermost first */
  readonly #opened: PartLayer[] = [];

  touch(): void {
    const top = this.#opened.at(-1);
    if (top !== undefined) top.isTouched = true;
  }

  find(layer: number): PartLayer | undefined {
    return this.#opened.findLast(({ since }) => since <= layer);
  }

  open(layer: number, snapshot: boolean): Change | null {
    const top = this.#opened.at(-1);
    // Faults belong to the layer of a test, and not to a snapshot.
    if (top?.isTouched === false && !top.snapshot && !snapshot) return null;
    return { opened: this.#push({ id: layer, since: layer, snapshot }) };
  }

  /** @param next opened in the place of the closed layer, for the layers that share it and for the next test */
  close(layer: number, next: number): Change | null {
    const closed = this.find(layer);
    if (closed === undefined) return null;
    const index = this.#opened.indexOf(closed);
    const isOutermost = index === 0 && closed.since === layer;
    if (!isOutermost && !closed.isTouched && index === this.#opened.length - 1) return null;
    this.#opened.splice(index);
    if (isOutermost) return { closed };
    return { closed, opened: this.#push({ id: next, since: closed.since, snapshot: false }) };
  }

  restore(snapshot: number): Change | null {
    const closed = this.find(snapshot);
    if (closed === undefined) return null;
    const index = this.#opened.indexOf(closed);
    if (!closed.isTouched && index === this.#opened.length - 1) return null;
    this.#opened.splice(index);
    return { closed, opened: this.#push({ id: snapshot, since: snapshot, snapshot: true }) };
  }

  #push(layer: Pick<PartLayer, "id" | "since" | "snapshot">): PartLayer {
    const opened = { ...layer, isTouched: this.isTouchedAlways, isOpen: false };
    this.#opened.push(opened);
    return opened;
  }
}
