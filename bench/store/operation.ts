/** One measured operation. */
import type { Session } from "./session.ts";

export interface Operation {
  /** Runs before every `count` operations, outside of the measured time. */
  readonly prepare: (session: Session, count: number) => Promise<void>;
  readonly once: (session: Session, index: number) => Promise<void>;
  /** Throws when stored content is wrong. The result must be the same on all sides. */
  readonly verify: (session: Session) => Promise<string>;
}

/** Stops the benchmark when an operation returns a wrong result. */
export function ensure(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`The benchmark found ${what}`);
}

/** The first, the middle and the last index. */
export const sample = (length: number) => new Set([0, length >> 1, length - 1]);
