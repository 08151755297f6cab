/**
 * The catalog of zones (RFC 9432): a zone that lists the zones of this server. Secondaries transfer the
 * catalog, and take on and drop zones as it says. Each zone has a PTR record, whose owner has an
 * identifier that is kept for the life of the zone. A zone that is deleted and created again has another
 * identifier, so that secondaries do not go on from their copy.
 */
import type { ServedRecord, Zone, ZoneData } from "./zone.ts";

/** In publications. The ids of other zones have 32 digits. */
export const catalogId = "catalog";
/** RFC 9432 section 4.1: the name servers of a catalog are never asked. */
const noHost = "invalid";
/** The longest delay of a change whose NOTIFY messages are all lost. */
const refreshSeconds = 3600;
const retrySeconds = 600;
/** Secondaries keep their zones however long this server is away. */
const expireSeconds = 2 ** 31 - 2;

export type CatalogMember = Pick<Zone, "id" | "name" | "firstSerial">;

/** A zone of the configuration has the same id when it is created again, and a later first serial. */
export function memberRecord(
  catalogName: string,
  { id, name, firstSerial }: CatalogMember,
): ServedRecord {
  const label = `${id}-${firstSerial}`;
  return {
    ...common,
    id: label,
    name: `${label}.zones.${catalogName}`,
    type: "PTR",
    content: name,
  };
}

export function catalogZone(
  name: string,
  serial: number,
  members: readonly CatalogMember[],
): ZoneData {
  const version = {
    ...common,
    id: "version",
    name: `version.${name}`,
    type: "TXT",
    content: '"2"',
  };
  return {
    id: catalogId,
    name,
    serial,
    nameServers: [noHost],
    settings: {
      flatten_all_cnames: false,
      ns_ttl: 0,
      soa: {
        mname: noHost,
        rname: noHost,
        refresh: refreshSeconds,
        retry: retrySeconds,
        expire: expireSeconds,
        min_ttl: 0,
        ttl: 0,
      },
      zone_mode: "dns_only",
    },
    http2: false,
    http3: false,
    paused: false,
    records: [version, ...members.map((member) => memberRecord(name, member))],
  };
}

/** RFC 9432 section 4: secondaries ignore the TTL. */
const common = { ttl: 0, priority: null, proxied: false, settings: {} };
