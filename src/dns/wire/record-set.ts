/** Records of one owner, type and class: DNS answers with all of them or none (RFC 2181 section 5). */
export interface RecordSet {
  /** A whole name as octets, not compressed. */
  readonly owner: Uint8Array;
  readonly type: number;
  readonly ttlSeconds: number;
  /** Octets in which no name is compressed. */
  readonly data: readonly Uint8Array[];
}
