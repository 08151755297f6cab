import type { ZoneRecord } from "./record.ts";
import type { DnsSettings } from "./settings.ts";

/** As much of a record as serving it needs. */
export type ServedRecord = Pick<
  ZoneRecord,
  "id" | "name" | "type" | "content" | "priority" | "ttl" | "proxied" | "settings"
>;

/** What of a zone is no record, and may change under it. */
export interface ZoneHead {
  /** The apex NS records that the zone has without a record for them. */
  readonly nameServers: readonly string[];
  readonly settings: Pick<DnsSettings, "flatten_all_cnames" | "ns_ttl" | "soa" | "zone_mode">;
  readonly http2: boolean;
  readonly http3: boolean;
  /** A paused zone hides nothing: proxied names are answered with what they hold. */
  readonly paused: boolean;
}

/** A zone as plain data: what the object of a zone hands over. */
export interface ZoneData extends ZoneHead {
  readonly id: string;
  readonly name: string;
  readonly serial: number;
  readonly records: readonly ServedRecord[];
}

/** One serial's worth. Records are removed by id, before others are added. */
export interface ZoneChange {
  readonly serial: number;
  readonly removed: readonly Pick<ServedRecord, "id" | "name">[];
  readonly added: readonly ServedRecord[];
  /** When settings changed as well. */
  readonly head?: ZoneHead;
}

export declare class ServedZone {
  static build(data: ZoneData): ServedZone;
  readonly id: string;
  readonly name: string;
  serial: number;
  apply(change: ZoneChange): void;
}
