export interface ResourceRecord {
  readonly name: string;
  readonly type: number;
  readonly class: number;
  readonly ttlSeconds: number;
  /** Octets without compressed names. */
  readonly data: Uint8Array;
}

/** All records of an owner, type and class, which are answered together (RFC 2181 section 5). */
export interface RecordSet {
  /** A full name in wire form, not compressed. */
  readonly owner: Uint8Array;
  readonly type: number;
  readonly ttlSeconds: number;
  /** Octets without compressed names. */
  readonly data: readonly Uint8Array[];
}
