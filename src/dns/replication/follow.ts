import type { ServedZones } from "../answer/served-zones.ts";
import { followChange, type Publication } from "./publication.ts";

export function zoneOf(publication: Publication): string {
  return publication.kind === "state" ? publication.data.id : publication.zoneId;
}

/** Brings zones in memory up to date; "reload" when something before this was missed. */
export function takePublication(zones: ServedZones, publication: Publication): "taken" | "reload" {
  switch (publication.kind) {
    case "removed":
      zones.remove(publication.zoneId);
      return "taken";
    case "state":
      zones.put(publication.data);
      return "taken";
    case "change": {
      const { zoneId, from, change } = publication;
      const at = zones.get(zoneId)?.serial ?? null;
      const step = followChange(at, { from, to: change.serial });
      if (step === "apply") return zones.apply(zoneId, change) ? "taken" : "reload";
      return step === "ignore" ? "taken" : "reload";
    }
  }
}
