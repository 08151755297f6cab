/** Why a device does not accept a write, or why a folder on it cannot be used. */
export interface DiskProblem {
  /** A sentence for the caller. */
  readonly text: string;
  /** Whether the write succeeds when the device has more space. */
  readonly lacksSpace: boolean;
}

/** A problem that more space does not solve. */
export function problemOf(text: string): DiskProblem {
  return { text, lacksSpace: false };
}
