/**
 * Publications: the messages by which a zone object keeps replicas of its zone up to date. The
 * listeners in Node and DoH in the worker answer from replicas. In the order of serials:
 *
 *     removed   the zone was deleted
 *     state     the whole zone, when it is created or a replica asks for it
 *     change    the records that one serial, the one after `from`, removed and added
 *
 * A replica that is not at `from` has missed a publication and asks for the state.
 */
import type { ServedZones } from "../answer/served-zones.ts";
import type { ServedRecord, ZoneChange, ZoneData } from "../answer/zone-data.ts";
import type { ZoneRecord } from "../record/zone-record.ts";
import { isLaterSerial } from "../wire/numbers.ts";

export type Publication =
  | { readonly kind: "removed"; readonly zoneId: string }
  | { readonly kind: "state"; readonly data: ZoneData }
  | {
      readonly kind: "change";
      readonly zoneId: string;
      readonly from: number;
      readonly change: ZoneChange;
    };

export function zoneIdOf(publication: Publication): string {
  return publication.kind === "state" ? publication.data.id : publication.zoneId;
}

/** Leaves out comments, tags and dates, which no answer depends on. */
export function servedRecord(record: ZoneRecord): ServedRecord {
  const { id, name, type, content, priority, ttl, proxied, settings } = record;
  return { id, name, type, content, priority, ttl, proxied, settings };
}

/**
 * The steps of a transaction as one change. A batch can patch a record and then replace it; the
 * record between the two steps is never served.
 */
export function netChange(
  steps: readonly { readonly action: "remove" | "add"; readonly record: ZoneRecord }[],
): Pick<ZoneChange, "removed" | "added"> {
  const removed = new Map<string, { readonly id: string; readonly name: string }>();
  const added = new Map<string, ServedRecord>();
  for (const { action, record } of steps) {
    const { id, name } = record;
    if (action === "add") added.set(id, servedRecord(record));
    else if (!added.delete(id)) removed.set(id, { id, name });
  }
  return { removed: [...removed.values()], added: [...added.values()] };
}

/** @param at the serial of the replica; `null` when it does not have the zone */
export function followChange(
  at: number | null,
  { from, to }: { readonly from: number; readonly to: number },
): "apply" | "ignore" | "reload" {
  if (at === null) return "reload";
  if (at === from) return "apply";
  return at === to || isLaterSerial(at, to) ? "ignore" : "reload";
}

/** Returns "reload" when the replica missed a publication and needs the state of the zone. */
export function applyPublication(
  zones: ServedZones,
  publication: Publication,
): "applied" | "reload" {
  if (publication.kind === "removed") zones.remove(publication.zoneId);
  else if (publication.kind === "state") zones.put(publication.data);
  else {
    const { zoneId, from, change } = publication;
    const at = zones.get(zoneId)?.serial ?? null;
    const step = followChange(at, { from, to: change.serial });
    if (step === "reload") return "reload";
    if (step === "apply") zones.apply(zoneId, change);
  }
  return "applied";
}
