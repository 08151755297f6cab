/** The TSIG pseudo-record (RFC 8945 section 4.2), always the last of a message. */
export interface Tsig {
  readonly keyName: string;
  /** As on the wire: hmac-sha256. */
  readonly algorithm: string;
  readonly timeSignedSeconds: number;
  readonly fudgeSeconds: number;
  readonly mac: Uint8Array;
  readonly originalId: number;
  readonly error: number;
  readonly other: Uint8Array;
}
