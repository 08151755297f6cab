/** A zone as plain data: zone objects publish it, and served zones are built from it. */
import type { ZoneSigning } from "../dnssec/zone-signing.ts";
import type { ZoneRecord } from "../record/zone-record.ts";
import type { DnsSettings } from "../rules/zone-settings.ts";

/** The fields of a record that answers depend on. */
export type ServedRecord = Pick<
  ZoneRecord,
  "id" | "name" | "type" | "content" | "priority" | "ttl" | "proxied" | "settings"
>;

/** The part of a zone that is not records. */
export interface ZoneHead {
  /** The name servers of the zone. The apex NS set has them without a record. */
  readonly nameServers: readonly string[];
  readonly settings: Pick<DnsSettings, "flatten_all_cnames" | "ns_ttl" | "soa" | "zone_mode">;
  readonly http2: boolean;
  readonly http3: boolean;
  /** A paused zone proxies nothing: proxied names are answered with their own records. */
  readonly paused: boolean;
  /** Present while DNSSEC is on. */
  readonly signing?: ZoneSigning | undefined;
}

export interface ZoneData extends ZoneHead {
  readonly id: string;
  readonly name: string;
  readonly serial: number;
  readonly records: readonly ServedRecord[];
}

/** The change that leads to a serial. Records are removed by id before others are added. */
export interface ZoneChange {
  readonly serial: number;
  readonly removed: readonly Pick<ServedRecord, "id" | "name">[];
  readonly added: readonly ServedRecord[];
  /** Present when the head changed too. */
  readonly head?: ZoneHead;
}
