/**
 * Publications: the messages by which a zone object keeps replicas of its zone up to date. The
 * listeners in Node and DoH in the worker answer from replicas. In the order of serials:
 *
 *     removed   the zone was deleted
 *     state     the whole zone, when it is created or a replica asks for it
 *     change    the records that one serial, the one after `from`, removed and added
 *
 * A replica that is not at `from` has missed a publication and asks for the state.
 *
 * The zone object logs its changes too. From the log and the current zone, a listener that has just
 * started makes the differences that secondaries ask for (RFC 1995).
 */
import type { ServedZones } from "../answer/served-zones.ts";
import type { ServedRecord, ZoneChange, ZoneData, ZoneHead } from "../rules/zone.ts";
import { isLaterSerial, nextSerial } from "../wire/numbers.ts";

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
export function servedRecord(record: ServedRecord): ServedRecord {
  const { id, name, type, content, priority, ttl, proxied, settings } = record;
  return { id, name, type, content, priority, ttl, proxied, settings };
}

/**
 * The steps of a transaction as one change. A batch can patch a record and then replace it; the
 * record between the two steps is never served.
 */
export function netChange(
  steps: readonly { readonly action: "remove" | "add"; readonly record: ServedRecord }[],
): { readonly removed: readonly ServedRecord[]; readonly added: readonly ServedRecord[] } {
  const removed = new Map<string, ServedRecord>();
  const added = new Map<string, ServedRecord>();
  for (const { action, record } of steps) {
    if (action === "add") added.set(record.id, servedRecord(record));
    else if (!added.delete(record.id)) removed.set(record.id, servedRecord(record));
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

export type ChangeStep = { readonly serial: number } & (
  | { readonly action: "remove" | "add"; readonly record: ServedRecord }
  | { readonly action: "settings"; readonly headBefore: ZoneHead }
);

/** The change that led to a serial, with all that is needed to undo it. */
export interface LoggedChange extends ReturnType<typeof netChange> {
  readonly serial: number;
  readonly headBefore: ZoneHead | null;
}

export function groupSteps(
  steps: readonly ChangeStep[],
  { from, to }: { readonly from: number; readonly to: number },
): LoggedChange[] | null {
  const changes: LoggedChange[] = [];
  let last = from;
  for (const [serial, group] of Map.groupBy(steps, (step) => step.serial)) {
    if (serial !== nextSerial(last)) return null;
    last = serial;
    const first = group.find((step) => step.action === "settings");
    const records = group.filter((step) => step.action !== "settings");
    changes.push({ serial, ...netChange(records), headBefore: first?.headBefore ?? null });
  }
  return last === to ? changes : null;
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
    forward.unshift({ serial, removed, added, head: headBefore === null ? undefined : head });
    for (const { id } of added) records.delete(id);
    for (const record of removed) records.set(record.id, record);
    head = headBefore ?? head;
  }
  return {
    data: { id: zoneId, name, serial: from, ...head, records: [...records.values()] },
    changes: forward,
  };
}

/** Listeners that restart are back in less. After the last try the next commit sends the rest. */
const repeatMilliseconds = [200, 1000, 5000, 20_000];
/** Of more, only the last is kept: fetching the zone takes less than so many changes. */
const keptMax = 100;

interface PublicationQueueOptions {
  /** Fails when a listener did not take the message. */
  readonly send: (publications: readonly Publication[]) => Promise<void>;
  readonly wait: (milliseconds: number) => Promise<unknown>;
  /** A lost message does not fail the write, which is committed already. */
  readonly onLost: (error: unknown) => void;
}

/**
 * Publications on their way to the listeners. Only one message is in flight, so that messages arrive
 * in the order of serials. The commits made in the meantime travel together in the next message.
 *
 * A message that is lost is repeated, alone or with the next commit. Listeners ignore what they have
 * already, and when a publication is missing, they find the gap in the serials and fetch the zone.
 */
export class PublicationQueue {
  readonly #options: PublicationQueueOptions;
  #waiting: Publication[] = [];
  #next: Promise<void> | null = null;
  #inFlight: Promise<void> = Promise.resolve();
  #failures = 0;
  #isRepeating = false;

  constructor(options: PublicationQueueOptions) {
    this.#options = options;
  }

  /** To be called in the turn of the commit, to keep the order of serials. */
  enqueue(publication: Publication): void {
    this.#waiting.push(publication);
  }

  /** Resolves once every publication enqueued so far has arrived, or was lost once. */
  flushed(): Promise<void> {
    if (this.#waiting.length === 0) return this.#inFlight;
    this.#next ??= this.#inFlight.then(() => this.#sendWaiting());
    this.#inFlight = this.#next;
    return this.#next;
  }

  async #sendWaiting(): Promise<void> {
    const sent = this.#waiting;
    this.#waiting = [];
    this.#next = null;
    try {
      await this.#options.send(sent);
      this.#failures = 0;
    } catch (error) {
      this.#options.onLost(error);
      this.#waiting.unshift(...(sent.length > keptMax ? sent.slice(-1) : sent));
      void this.#repeat();
    }
  }

  async #repeat(): Promise<void> {
    const delay = repeatMilliseconds[this.#failures];
    this.#failures += 1;
    if (delay === undefined || this.#isRepeating) return;
    this.#isRepeating = true;
    await this.#options.wait(delay);
    this.#isRepeating = false;
    await this.flushed();
  }
}
