/**
 * Isolation of tests in layers: closing a layer undoes what was written to zones while the layer
 * was open (`src/base/undo-journal.ts`). All objects of a runtime live in one isolate.
 */
import { UndoJournal } from "../../src/base/undo-journal.ts";
import { indexObject, zoneObject, type Env } from "./environment.ts";

class ZoneTestSession {
  #run = "";
  readonly #layers: number[] = [];
  readonly #zones = new Set<string>();

  /** The id of this test run; empty until a test opens a layer. */
  get run(): string {
    return this.#run;
  }

  get layer(): number | null {
    return this.#layers.at(-1) ?? null;
  }

  open(layer: number): void {
    if (this.#run === "") this.#run = crypto.randomUUID();
    this.#layers.push(layer);
  }

  touch(zoneId: string | null): void {
    if (zoneId !== null && this.layer !== null) this.#zones.add(zoneId);
  }

  /** Undoes the writes of this layer and of the layers above it. */
  async close(layer: number, env: Env): Promise<void> {
    const lowest = this.#layers.findIndex((open) => open >= layer);
    if (lowest === -1) return;
    this.#layers.splice(lowest);
    if (this.#zones.size === 0) return;
    const zones = [...this.#zones];
    if (this.#layers.length === 0) this.#zones.clear();
    await indexObject(env).leaveLayer(layer);
    await Promise.all(zones.map((id) => zoneObject(env, id).leaveLayer(layer)));
  }
}

export const zoneTestSession = new ZoneTestSession();

/** The undo journal of one object, which follows the layers of the test session. */
export class ObjectJournal {
  readonly #sql: SqlStorage;
  readonly #zoneId: string | null;
  #journal: UndoJournal;

  /** @param zoneId `null` for the index, which changes only when a zone changes too */
  constructor(sql: SqlStorage, zoneId: string | null) {
    this.#sql = sql;
    this.#zoneId = zoneId;
    this.#journal = new UndoJournal(sql);
    this.#journal.recover(zoneTestSession.run);
  }

  /** To be called before every write. */
  enter(): void {
    if (zoneTestSession.run === "") return;
    zoneTestSession.touch(this.#zoneId);
    this.#journal.enter(zoneTestSession.layer, zoneTestSession.run);
  }

  leave(layer: number): void {
    this.#journal.leave(layer, zoneTestSession.run);
  }

  /** Deletes all rows so that the layer can restore them. `false` when no layer is open. */
  empty(): boolean {
    this.enter();
    if (zoneTestSession.layer !== null) {
      this.#journal.empty();
      return true;
    }
    this.#journal = new UndoJournal(this.#sql);
    return false;
  }
}
