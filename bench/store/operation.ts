/** One operation that is measured. */
import type { Session } from "./session.ts";

export interface Operation {
  /** Before every run of `count`, outside of the time that counts. */
  readonly prepare: (session: Session, count: number) => Promise<void>;
  readonly once: (session: Session, index: number) => Promise<void>;
  /** Throws when content is not what was stored. What it returns must be the same on all sides. */
  readonly verify: (session: Session) => Promise<string>;
}

/** Stops the benchmark: what it measured was not what it says. */
export function ensure(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`The benchmark found ${what}`);
}

/** The first, the middle and the last. */
export const sample = (length: number) => new Set([0, length >> 1, length - 1]);
