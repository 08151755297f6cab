/**
 * Signs messages with TSIG and verifies them (RFC 8945 sections 4.3, 5). The MAC covers the message
 * without TSIG, the other fields of TSIG, and the preceding MAC: the MAC of the request in a
 * response, the MAC of the last signed message in a stream. The caller provides the HMAC function.
 */
import { concatBytes, isSameSecret, WireError } from "./bytes.ts";
import { parseMessage, type Message } from "./message.ts";
import { keyOctets, textKey } from "./name-key.ts";
import { encodeName } from "./name.ts";
import { badSignature, classCodes, rcodes } from "./numbers.ts";
import { encodeTsig, writeTime, type Tsig } from "./tsig.ts";
import { Writer } from "./writer.ts";

/** RFC 8945 section 6: the octets of a full MAC. */
const macBytesByAlgorithm = {
  "hmac-sha1": 20,
  "hmac-sha256": 32,
  "hmac-sha384": 48,
  "hmac-sha512": 64,
} as const;

export type TsigAlgorithm = keyof typeof macBytesByAlgorithm;
export type Hmac = (algorithm: TsigAlgorithm, secret: Uint8Array, data: Uint8Array) => Uint8Array;

export interface TsigKey {
  readonly name: string;
  readonly algorithm: TsigAlgorithm;
  readonly secret: Uint8Array;
}

/** RFC 8945 section 10. */
const fudgeSecondsDefault = 300;
/** RFC 8945 section 5.2.2.1. */
const macBytesMin = 10;

export function isTsigAlgorithm(name: string): name is TsigAlgorithm {
  return Object.hasOwn(macBytesByAlgorithm, name);
}

interface MacInput {
  readonly tsig: Omit<Tsig, "mac">;
  /** The message without TSIG and with the identifier that was signed. */
  readonly unsigned: Uint8Array;
  readonly priorMac: Uint8Array | null;
  /** RFC 8945 section 5.3.1: later messages of a stream sign only the timers. */
  readonly timersOnly: boolean;
}

function canonicalName(name: string): Uint8Array {
  return keyOctets(textKey(name));
}

function macInput({ tsig, unsigned, priorMac, timersOnly }: MacInput): Uint8Array {
  const writer = new Writer();
  if (priorMac !== null) {
    writer.uint16(priorMac.length);
    writer.bytes(priorMac);
  }
  writer.bytes(unsigned);
  if (!timersOnly) {
    writer.bytes(canonicalName(tsig.keyName));
    writer.uint16(classCodes.ANY);
    writer.uint32(0);
    writer.bytes(canonicalName(tsig.algorithm));
  }
  writeTime(writer, tsig.timeSignedSeconds);
  writer.uint16(tsig.fudgeSeconds);
  if (!timersOnly) {
    writer.uint16(tsig.error);
    writer.uint16(tsig.other.length);
    writer.bytes(tsig.other);
  }
  return writer.finish();
}

export interface SignOptions {
  readonly key: TsigKey;
  readonly hmac: Hmac;
  readonly nowSeconds: number;
  readonly priorMac?: Uint8Array;
  readonly timersOnly?: boolean;
  readonly error?: number;
  /** For BADTIME: the response carries the server's time. */
  readonly tellTime?: boolean;
}

/** The number of octets that signing adds to a message. */
export function tsigBytes(key: TsigKey): number {
  const names = encodeName(key.name).length + encodeName(key.algorithm).length;
  return names + 26 + macBytesByAlgorithm[key.algorithm];
}

function appendRecord(message: Uint8Array, record: Uint8Array): Uint8Array {
  const bytes = concatBytes([message, record]);
  const count = ((bytes[10]! << 8) | bytes[11]!) + 1;
  bytes[10] = count >>> 8;
  bytes[11] = count & 0xff;
  return bytes;
}

/** Returns the message with TSIG at the end, and the MAC, which the next message signs as well. */
export function signMessage(
  message: Uint8Array,
  options: SignOptions,
): { readonly bytes: Uint8Array; readonly mac: Uint8Array } {
  const { key, hmac, nowSeconds, priorMac = null, timersOnly = false } = options;
  const other = new Writer();
  if (options.tellTime === true) writeTime(other, nowSeconds);
  const tsig = {
    keyName: key.name,
    algorithm: key.algorithm,
    timeSignedSeconds: nowSeconds,
    fudgeSeconds: fudgeSecondsDefault,
    originalId: (message[0]! << 8) | message[1]!,
    error: options.error ?? 0,
    other: other.finish(),
  };
  const input = macInput({ tsig, unsigned: message, priorMac, timersOnly });
  const mac = hmac(key.algorithm, key.secret, input);
  return { bytes: appendRecord(message, encodeTsig({ ...tsig, mac })), mac };
}

/** RFC 8945 section 5.3.2: the response to an unknown key or a bad signature is not signed. */
export function refuseSignature(message: Uint8Array, requested: Tsig, error: number): Uint8Array {
  const none = new Uint8Array();
  return appendRecord(message, encodeTsig({ ...requested, mac: none, error, other: none }));
}

export type Verdict =
  | { readonly kind: "unsigned"; readonly message: Message }
  | {
      readonly kind: "good";
      readonly message: Message;
      readonly key: TsigKey;
      readonly mac: Uint8Array;
    }
  | {
      readonly kind: "bad";
      readonly message: Message;
      /** BADKEY, BADSIG, BADTIME or BADTRUNC; the RCODE is NOTAUTH. */
      readonly error: number;
      /** Present for BADTIME: that response is signed. */
      readonly key: TsigKey | null;
    };

export interface VerifyOptions {
  readonly findKey: (name: string) => TsigKey | undefined;
  readonly hmac: Hmac;
  readonly nowSeconds: number;
  readonly priorMac?: Uint8Array;
  readonly timersOnly?: boolean;
  /** RFC 8945 section 5.3.1: the unsigned messages of a stream since the last signed message. */
  readonly before?: readonly Uint8Array[];
}

function withoutTsig(bytes: Uint8Array, offset: number, originalId: number): Uint8Array {
  const unsigned = bytes.slice(0, offset);
  const count = ((bytes[10]! << 8) | bytes[11]!) - 1;
  unsigned.set([originalId >>> 8, originalId & 0xff]);
  unsigned.set([count >>> 8, count & 0xff], 10);
  return unsigned;
}

/** Throws WireError (FORMERR) when the message is malformed or the MAC has a forbidden length. */
export function verifyMessage(bytes: Uint8Array, options: VerifyOptions): Verdict {
  const { message, tsigOffset } = parseMessage(bytes);
  const { tsig } = message;
  if (tsig === null || tsigOffset === null) return { kind: "unsigned", message };
  const bad = (error: number, known: TsigKey | null = null): Verdict => ({
    kind: "bad",
    message,
    error,
    key: known,
  });
  const key = options.findKey(tsig.keyName.toLowerCase());
  const algorithm = tsig.algorithm.toLowerCase();
  if (key === undefined || key.algorithm !== algorithm) return bad(rcodes.BADKEY);
  const macBytes = macBytesByAlgorithm[key.algorithm];
  if (tsig.mac.length > macBytes || tsig.mac.length < Math.max(macBytesMin, macBytes / 2)) {
    throw new WireError("The MAC has a wrong length");
  }
  const unsigned = withoutTsig(bytes, tsigOffset, tsig.originalId);
  const input = macInput({
    tsig,
    unsigned: concatBytes([...(options.before ?? []), unsigned]),
    priorMac: options.priorMac ?? null,
    timersOnly: options.timersOnly === true,
  });
  const expected = options.hmac(key.algorithm, key.secret, input);
  if (!isSameSecret(expected.slice(0, tsig.mac.length), tsig.mac)) return bad(badSignature);
  if (Math.abs(options.nowSeconds - tsig.timeSignedSeconds) > tsig.fudgeSeconds) {
    return bad(rcodes.BADTIME, key);
  }
  // RFC 8945 section 5.2.2.1: a truncated MAC needs a local policy; this server has none.
  if (tsig.mac.length < macBytes) return bad(rcodes.BADTRUNC);
  return { kind: "good", message, key, mac: tsig.mac };
}
