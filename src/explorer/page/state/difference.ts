/** The difference of two states, as the page shows it: a group for each bucket, zone, namespace or database. */
import type { StateChange } from "../../api/state.ts";
import { formatCount } from "../frame/format.ts";

interface ChangeGroup {
  /** `bucket photos` */
  readonly title: string;
  /** `2 added, 1 removed` */
  readonly counts: string;
  readonly changes: readonly StateChange[];
}

export function groupChanges(all: readonly StateChange[]): readonly ChangeGroup[] {
  const groups = Map.groupBy(all, ({ kind, place }) => `${kind} ${place}`);
  return Array.from(groups, ([title, changes]) => {
    const counts = Object.entries(Object.groupBy(changes, ({ change }) => change)).map(
      ([change, { length }]) => `${formatCount(length)} ${change}`,
    );
    return { title, counts: counts.join(", "), changes };
  });
}
