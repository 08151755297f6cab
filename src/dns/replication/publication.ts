/**
 * What a zone tells those that answer for it from memory: the listeners in Node, and DoH in the
 * worker. The zone object is the truth; a replica follows it by three kinds of message, in the
 * order of serials.
 *
 *     removed   the zone is gone
 *     state     the zone as it is, whole: a new one, or a replica's first look
 *     change    what one serial, the one after `from`, has removed and added
 *
 * A replica that is not at `from` has missed something and asks for the state.
 */
import type { ZoneRecord } from "../record/zone-record.ts";
import { isLaterSerial } from "../record/soa.ts";
import type { ServedRecord, ZoneChange, ZoneData } from "../answer/served-zone.ts";

export type Publication =
  | { readonly kind: "removed"; readonly zoneId: string }
  | { readonly kind: "state"; readonly data: ZoneData }
  | {
      readonly kind: "change";
      readonly zoneId: string;
      readonly from: number;
      readonly change: ZoneChange;
    };

/** Comments, tags and dates are nobody's business who asks by DNS. */
export function servedRecord(record: ZoneRecord): ServedRecord {
  const { id, name, type, content, priority, ttl, proxied, settings } = record;
  return { id, name, type, content, priority, ttl, proxied, settings };
}

/**
 * The steps of a transaction as one: records as they were before it go, and as they are after it
 * come. A batch may patch a record and then replace it; what it was in between is nobody's answer.
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

/** What a replica at a serial, or without the zone, does with a change. */
export function followChange(
  at: number | null,
  { from, to }: { readonly from: number; readonly to: number },
): "apply" | "ignore" | "reload" {
  if (at === null) return "reload";
  if (at === from) return "apply";
  return at === to || isLaterSerial(at, to) ? "ignore" : "reload";
}
