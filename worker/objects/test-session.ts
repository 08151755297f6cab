/**
 * Layers of isolation for tests: what is written to zones while one is open is undone when it is
 * closed (`src/base/undo-journal.ts`). All objects of a runtime live in one isolate.
 */
import { UndoJournal } from "../../src/base/undo-journal.ts";
import { indexObject, zoneObject, type Env } from "./environment.ts";

class TestSession {
  #run = "";
  readonly #layers: number[] = [];
  readonly #zones = new Set<string>();

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

  /** Undoes what was written in this layer and those above it. */
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

export const testSession = new TestSession();

/** The journal of one object, in step with the layers. */
export class ObjectJournal {
  readonly #sql: SqlStorage;
  readonly #zoneId: string | null;
  #journal: UndoJournal;

  /** @param zoneId `null` for the index, which changes only when some zone does */
  constructor(sql: SqlStorage, zoneId: string | null) {
    this.#sql = sql;
    this.#zoneId = zoneId;
    this.#journal = new UndoJournal(sql);
    this.#journal.recover(testSession.run);
  }

  /** To be called before every write. */
  enter(): void {
    if (testSession.run === "") return;
    testSession.touch(this.#zoneId);
    this.#journal.enter(testSession.layer, testSession.run);
  }

  leave(layer: number): void {
    this.#journal.leave(layer, testSession.run);
  }

  /** Empties all tables, so that it can be undone. `false` where there is no layer to undo it. */
  empty(): boolean {
    this.enter();
    if (testSession.layer !== null) {
      this.#journal.empty();
      return true;
    }
    this.#journal = new UndoJournal(this.#sql);
    return false;
  }
}
