/**
 * Zones and DNS lookups. Calls of the record API pass with the access of the project; their answers,
 * refusals included, are the envelope of the record API.
 *
 *     *    /api/dns/PATH                      the record API at /client/v4/PATH
 *     GET  /api/record-types                  RecordTypes
 *     GET  /api/lookup ?name &type &dnssec    LookupAnswer; without a type, PTR for an address, else A.
 *                      &transport=https       asks by HTTPS, and the query stays out of the activity
 *
 * The explorer adds two things to POST and PATCH of a record. `content` is accepted for every type, as in
 * a zone file. With the header `x-ledge-unmodified-since: MODIFIED_ON`, a PATCH is refused with 412 when
 * the record was changed or deleted after that time.
 */
export interface RecordTypes {
  readonly types: readonly RecordTypeInfo[];
  /** The types that a lookup can ask for. */
  readonly lookupTypes: readonly string[];
  readonly ttlSecondsMin: number;
  readonly ttlSecondsMax: number;
}

interface RecordTypeInfo {
  readonly type: string;
  /** A content of the type. */
  readonly example: string;
  /** Whether the priority is a field of the record. */
  readonly hasPriority: boolean;
  readonly isProxiable: boolean;
}

export const unmodifiedHeader = "x-ledge-unmodified-since";

export interface LookupAnswer {
  /** The reply as `ledge dns dig` shows it. */
  readonly text: string;
  /** `NOERROR`, `NXDOMAIN`, … */
  readonly rcode: string;
  /** The records of the answer section, with their data as in a zone file. */
  readonly answers: readonly {
    readonly name: string;
    readonly type: string;
    readonly ttl: number;
    readonly data: string;
  }[];
  /** The rules that made the answer, in order; `null` when the server does not name them. */
  readonly reasons: readonly LookupReason[] | null;
  /** The time until the reply arrived. */
  readonly milliseconds: number;
}

export interface LookupReason {
  /** `zone`, `exact`, `wildcard`, … */
  readonly rule: string;
  /** The name that the rule was applied to. */
  readonly name: string;
  readonly text: string;
}

/** The envelope of the record API. */
export interface DnsEnvelope<Result> {
  readonly result: Result;
  readonly success: boolean;
  readonly errors: readonly DnsProblem[];
  readonly messages: readonly DnsProblem[];
  readonly result_info?: { readonly total_count: number; readonly total_pages: number };
}

export interface DnsProblem {
  readonly code: number;
  readonly message: string;
  readonly error_chain?: readonly DnsProblem[];
}

export interface DnsZone {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly paused: boolean;
  readonly name_servers: readonly string[];
  readonly created_on: string;
}

export interface DnsRecord {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly content: string;
  /** Of MX, SRV and URI. */
  readonly priority?: number;
  /** 1: automatic */
  readonly ttl: number;
  readonly proxiable: boolean;
  readonly proxied: boolean;
  readonly comment: string | null;
  readonly tags: readonly string[];
  readonly modified_on: string;
}

export interface DnssecInfo {
  readonly status: "active" | "pending" | "disabled";
  /** The DS record for the parent zone; `null` for a zone that was never signed. */
  readonly ds: string | null;
  readonly key_tag: number | null;
}

export interface ImportCounts {
  readonly recs_added: number;
  readonly total_records_parsed: number;
}
