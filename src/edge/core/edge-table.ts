/**
 * What an edge knows of the scripts and the public buckets behind it, as plain data.
 *
 * Each dev server of a state folder announces what it serves as a member (`EdgeMember`), and reads the members
 * of all others: so every dev server of the folder is an entrance to the same edge. The table of an edge has the
 * members' routes and buckets; the records of zones are not in the table, because the zones answer for
 * themselves (`ZoneView`).
 */

export interface RoutePattern {
  /** As the configuration has the pattern: `example.com/*`, `https://*.example.com/api/*`. */
  readonly pattern: string;
  /** A custom domain is a host without wildcards; all its paths lead to the script. */
  readonly isCustomDomain: boolean;
  /** The zone, where the configuration names the zone (`zone_name`). */
  readonly zoneName?: string;
}

export interface ScriptRoute extends RoutePattern {
  /** The script; `null` for a route that excludes its URLs from scripts. */
  readonly script: string | null;
}

export interface PublicBucket {
  readonly bucketName: string;
  /** `domains` of the bucket, and its development name (`photos.store.localhost`): in lower case and punycode. */
  readonly hosts: readonly string[];
}

/** A dev server of the state folder. */
export interface EdgeMember {
  readonly id: string;
  readonly processId: number;
  /** The address of its script: `http://127.0.0.1:8787`. */
  readonly url: string;
  /** Proves that a request comes from this user's processes (`entranceHeaders()`). */
  readonly token: string;
  /** The names of its scripts; the first has the address. */
  readonly scripts: readonly string[];
  readonly routes: readonly ScriptRoute[];
  readonly buckets: readonly PublicBucket[];
}

/** `[edge]` of the configuration file. */
export interface EdgeSettings {
  /** Where proxied records may lead besides this machine. */
  readonly origins: readonly OriginRule[];
  /** The country of visitors (`CF-IPCountry`); `null` for none. */
  readonly country: string | null;
  /** Hosts besides loopback and the names of zones for which the script answers: a tunnel's, for example. */
  readonly hosts: readonly string[];
}

export interface OriginRule {
  /** A name, an address or a network (`10.0.0.0/8`) of a record's content, or the proxied name itself. */
  readonly host: string;
  /** Default: the port of the protocol. */
  readonly port?: number;
  /** Default: `http`, or the protocol of the request if the origin answers there. */
  readonly protocol?: "http" | "https";
}

/**
 * The owner of the zones answers within this time, also when it loads large zones on a busy machine. A process that is
 * stopped (Ctrl+Z) keeps the folder and does not answer: then no zone has the name.
 */
export const zoneViewMilliseconds = 10_000;

/** A name in a zone of this folder, as the companion worker sees the name. */
export interface ZoneView {
  readonly zoneName: string;
  /** The records at the name, or those of the wildcard that covers the name. */
  readonly records: readonly EdgeRecord[];
  /**
   * The records in place of CNAMEs whose target is in a zone of this folder: those at the end, or the last CNAME,
   * whose target is in no zone. Empty where there is no end. Absent if the zones have none of the targets.
   */
  readonly targets?: readonly EdgeRecord[];
  /** Some of the zone's names with address records, for a page; empty if the name itself is proxied. */
  readonly names: readonly string[];
}

export interface EdgeRecord {
  readonly name: string;
  readonly type: string;
  readonly content: string;
  readonly proxied: boolean;
}
