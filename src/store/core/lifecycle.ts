/**
 * The lifecycle rules of a bucket that concern objects: an object is deleted, or moves to the class
 * InfrequentAccess, so many days after it was stored, or on a date.
 *
 * A rule takes effect at midnight UTC only: days are counted from the time at which the object was stored,
 * and the end is rounded up to the next midnight, as on AWS; dates are midnights. So one sweep after each
 * midnight finds every object that is due.
 */
export const dayMilliseconds = 24 * 60 * 60 * 1000;

export interface ObjectRule {
  /** The rule concerns the keys that begin with it. */
  readonly prefix: string;
  readonly action: "delete" | "InfrequentAccess";
  /** Days after the object was stored, or a time: a midnight in milliseconds since the epoch. */
  readonly after: { readonly days: number } | { readonly time: number };
}

/** When a rule takes effect for an object that was stored at `uploaded`. */
export function dueTime({ after }: Pick<ObjectRule, "after">, uploaded: number): number {
  if ("time" in after) return after.time;
  return Math.ceil((uploaded + after.days * dayMilliseconds) / dayMilliseconds) * dayMilliseconds;
}

/** The last midnight: rules that are due now were due then. */
export function lastMidnight(now: number): number {
  return Math.floor(now / dayMilliseconds) * dayMilliseconds;
}

/** What happens to an object now; a deletion goes before a change of the class. */
export function dueAction(
  object: { readonly key: string; readonly uploaded: number; readonly storageClass: string },
  rules: readonly ObjectRule[],
  now: number,
): ObjectRule["action"] | null {
  const due = rules.filter(
    (rule) => object.key.startsWith(rule.prefix) && dueTime(rule, object.uploaded) <= now,
  );
  if (due.some(({ action }) => action === "delete")) return "delete";
  return due.length > 0 && object.storageClass === "Standard" ? "InfrequentAccess" : null;
}
