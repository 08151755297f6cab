/** A client's readiness to become the owner of the zones (`state/succession.ts`). */
import { Succession } from "../../state/succession.ts";
import { startCompanion } from "./companion.ts";
import { describeOtherTable, takeZones, type Zones, type ZonesOwner } from "./zones-owner.ts";

/**
 * Serves the zones while no other process does, without ports.
 *
 * @param warn receives a warning when another owner has another `[dns]` table
 */
export function succeedZonesOwner(
  zones: Zones,
  warn: (text: string) => void,
): Succession<ZonesOwner> {
  let lastWarning: string | null = null;
  return new Succession({
    folder: zones.folder,
    take: (onHandover) => takeZones(zones, { isBrief: true, onHandover }),
    start: (owner) => startCompanion(owner, zones.variables, { isPublic: false, listeners: null }),
    onOwner: (link) => {
      link.requestService();
      const warning = describeOtherTable(zones);
      if (warning !== null && warning !== lastWarning) warn(warning);
      lastWarning = warning;
    },
  });
}
