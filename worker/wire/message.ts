/**
 * A DNS message (RFC 1035 section 4) as plain data. Names are text in presentation form without
 * the final dot, the root is "."; the data of records is octets in which no name is compressed, so
 * that it means the same outside of its message. OPT and TSIG are no records of anybody's zone:
 * they stand in fields of their own.
 */
import type { Edns } from "./edns.ts";
import type { Tsig } from "./tsig.ts";

export interface Question {
  readonly name: string;
  readonly type: number;
  readonly class: number;
}

export interface ResourceRecord {
  readonly name: string;
  readonly type: number;
  readonly class: number;
  readonly ttlSeconds: number;
  readonly data: Uint8Array;
}

export interface Message {
  readonly id: number;
  /** QR: this is a response. */
  readonly response: boolean;
  readonly opcode: number;
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly recursionDesired: boolean;
  readonly recursionAvailable: boolean;
  readonly authenticData: boolean;
  readonly checkingDisabled: boolean;
  /** All twelve bits: the upper eight come from OPT (RFC 6891 section 6.1.3). */
  readonly rcode: number;
  readonly questions: readonly Question[];
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  /** Without OPT and TSIG. */
  readonly additionals: readonly ResourceRecord[];
  readonly edns: Edns | null;
  readonly tsig: Tsig | null;
}

/** Throws WireError, and nothing else. */
export declare function decodeMessage(bytes: Uint8Array): Message;

/**
 * Whole sets of records that do not fit are left out, with TC when an answer, an authority or glue
 * that is needed is among them (RFC 2181 section 9, RFC 9471).
 */
export declare function encodeMessage(
  message: Message,
  limit: { readonly bytesMax: number },
): Uint8Array;
