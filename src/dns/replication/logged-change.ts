/**
 * The changes of a zone as its log has them, and the zone at an earlier serial. With both, a listener
 * that has just started makes the differences that secondaries ask for (RFC 1995).
 */
import type { ServedRecord, ZoneChange, ZoneData, ZoneHead } from "../answer/zone-data.ts";
import type { ZoneRecord } from "../record/zone-record.ts";
import { nextSerial } from "../wire/numbers.ts";
import { servedRecord } from "./publication.ts";

/** A row of the log. */
export interface ChangeStep {
  readonly serial: number;
  /** "settings": the zone's head changed. */
  readonly action: "remove" | "add" | "settings";
  readonly record: ZoneRecord | null;
  /** Before a change of the head; `null` otherwise, and in the logs of earlier versions. */
  readonly headBefore: ZoneHead | null;
}

/** The change that led to a serial, with all that is needed to undo it. */
export interface LoggedChange {
  readonly serial: number;
  readonly removed: readonly ServedRecord[];
  readonly added: readonly ServedRecord[];
  readonly headBefore: ZoneHead | null;
}

/** Returns `null` when serials are missing, or when a change cannot be undone. */
export function groupSteps(
  steps: readonly ChangeStep[],
  { from, to }: { readonly from: number; readonly to: number },
): LoggedChange[] | null {
  const changes: LoggedChange[] = [];
  let serial = from;
  for (const [of, group] of Map.groupBy(steps, (step) => step.serial)) {
    if (of !== nextSerial(serial)) return null;
    serial = of;
    const change = netSteps(of, group);
    if (change === null) return null;
    changes.push(change);
  }
  return serial === to ? changes : null;
}

/** A record that is added and removed again in one change is in neither list. */
function netSteps(serial: number, steps: readonly ChangeStep[]): LoggedChange | null {
  const removed = new Map<string, ServedRecord>();
  const added = new Map<string, ServedRecord>();
  let headBefore: ZoneHead | null = null;
  for (const step of steps) {
    if (step.action === "settings") {
      if (step.headBefore === null) return null;
      headBefore ??= step.headBefore;
    } else {
      const record = servedRecord(step.record!);
      if (step.action === "add") added.set(record.id, record);
      else if (!added.delete(record.id)) removed.set(record.id, record);
    }
  }
  return { serial, removed: [...removed.values()], added: [...added.values()], headBefore };
}

/**
 * The zone before the changes, and the changes as replicas apply them.
 *
 * @param changes up to the serial of `data`
 */
export function rewind(
  data: ZoneData,
  from: number,
  changes: readonly LoggedChange[],
): { readonly data: ZoneData; readonly changes: readonly ZoneChange[] } {
  const records = new Map(data.records.map((record) => [record.id, record]));
  const { id: zoneId, name, serial: _, records: __, ...current } = data;
  let head: ZoneHead = current;
  const forward: ZoneChange[] = [];
  for (const { serial, removed, added, headBefore } of changes.toReversed()) {
    forward.unshift({ serial, removed, added, ...(headBefore !== null && { head }) });
    for (const { id } of added) records.delete(id);
    for (const record of removed) records.set(record.id, record);
    head = headBefore ?? head;
  }
  return {
    data: { id: zoneId, name, serial: from, ...head, records: [...records.values()] },
    changes: forward,
  };
}
