/**
 * The journal of a zone after a restart. The listeners have lost the journal that they had in memory,
 * but the zone object has a log: from the zone at an earlier serial and the changes since then, the
 * copy for transfers and its journal are made again.
 *
 * The log does not have the addresses that flattened names had when their targets are in other zones
 * or elsewhere, so a secondary may have others than a replay would remove. Such a zone is not
 * replayed, and its secondaries take the whole zone once.
 */
import type { AnswerContext } from "../answer/answer.ts";
import { ServedZones } from "../answer/served-zones.ts";
import type { ZoneChange, ZoneData } from "../answer/zone-data.ts";
import { compareRecords } from "./journal.ts";
import { TransferredZone } from "./transferred-zone.ts";

interface ReplayOptions extends AnswerContext {
  readonly platformAddresses: readonly string[];
  /** The copy of the current zone, to which the changes must lead. */
  readonly current: TransferredZone;
}

/**
 * Returns `null` when the changes do not lead to the current zone.
 *
 * @param start the zone before the changes
 */
export function replayZone(
  start: ZoneData,
  changes: readonly ZoneChange[],
  { platformAddresses, external, nowSeconds, current }: ReplayOptions,
): TransferredZone | null {
  const zones = new ServedZones({ platformAddresses });
  zones.put(start);
  const context = { zones, external, nowSeconds };
  const replayed = new TransferredZone(zones.get(start.id)!, context);
  for (const change of changes) {
    if (replayed.dependsOnOthers(zones.get(start.id)!)) return null;
    zones.apply(start.id, change);
    replayed.follow(zones.get(start.id)!, change, context);
  }
  if (replayed.serial !== current.serial || replayed.dependsOnOthers(zones.get(start.id)!)) {
    return null;
  }
  const { removed, added } = compareRecords([...current.records()], [...replayed.records()]);
  return removed.length === 0 && added.length === 0 ? replayed : null;
}
