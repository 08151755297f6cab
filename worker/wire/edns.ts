/** EDNS(0): the OPT pseudo-record (RFC 6891 section 6.1). */
export interface EdnsOption {
  readonly code: number;
  readonly data: Uint8Array;
}

export interface Edns {
  /** The largest UDP payload that the sender takes. */
  readonly udpBytesMax: number;
  readonly version: number;
  /** DO (RFC 3225). */
  readonly dnssecOk: boolean;
  readonly options: readonly EdnsOption[];
}
