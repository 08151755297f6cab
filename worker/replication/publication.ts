/**
 * What a zone tells those that answer for it from memory: the listeners in Node, and DoH in this
 * isolate. The zone object is the truth; a replica follows it by three kinds of message, in the
 * order of serials.
 *
 *     removed   the zone is gone
 *     state     the zone as it is, whole: a new one, or a replica's first look
 *     change    what the serials after `from`, up to `to`, have removed and added
 *
 * A replica that is not at `from` has missed something and asks for the state.
 */
import type { ZoneRecord } from "../zone/record.ts";
import { isLaterSerial } from "../zone/serial.ts";
import type { DnsSettings } from "../zone/settings.ts";

/** Comments, tags and dates are nobody's business who asks by DNS. */
export type PublishedRecord = Pick<
  ZoneRecord,
  "id" | "name" | "type" | "content" | "priority" | "ttl" | "proxied" | "settings"
>;

/** What is known of a zone besides its records. */
export interface ZoneHead {
  readonly id: string;
  readonly name: string;
  readonly nameServers: readonly string[];
  readonly serial: number;
  readonly settings: DnsSettings;
  readonly http2: boolean;
  readonly http3: boolean;
}

export interface RecordChange {
  readonly action: "remove" | "add";
  readonly record: PublishedRecord;
}

export type Publication =
  | { readonly kind: "removed"; readonly zoneId: string }
  | { readonly kind: "state"; readonly head: ZoneHead; readonly records: readonly PublishedRecord[] }
  | {
      readonly kind: "change";
      readonly from: number;
      readonly head: ZoneHead;
      readonly changes: readonly RecordChange[];
    };

export function publishedRecord(record: ZoneRecord): PublishedRecord {
  const { id, name, type, content, priority, ttl, proxied, settings } = record;
  return { id, name, type, content, priority, ttl, proxied, settings };
}

/** What a replica at a serial does with a change from `from` to `to`. */
export function followChange(
  at: number | null,
  { from, to }: { readonly from: number; readonly to: number },
): "apply" | "ignore" | "reload" {
  if (at === null) return "reload";
  if (at === from) return "apply";
  return at === to || isLaterSerial(at, to) ? "ignore" : "reload";
}
