/**
 * TSIG (RFC 8945): the pseudo-record, always the last of a message, and signing and verifying with
 * it. The MAC covers the message without TSIG, the other fields of TSIG, and the preceding MAC: the
 * MAC of the request in a response, the MAC of the last signed message in a stream. The caller
 * provides the HMAC function.
 */
import { concatBytes, isSameSecret, WireError } from "./bytes.ts";
import { encodeTsig, parseMessage, writeTime, type Tsig } from "./message.ts";
import { encodeName, keyOctets, textKey } from "./name.ts";
import { badSignature, classCodes, rcodes } from "./numbers.ts";
import { Writer } from "./octets.ts";

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

interface MacOptions {
  readonly hmac: Hmac;
  readonly nowSeconds: number;
  readonly priorMac?: Uint8Array;
  /** RFC 8945 section 5.3.1: later messages of a stream sign only the timers. */
  readonly timersOnly?: boolean;
}

function canonicalName(name: string): Uint8Array {
  return keyOctets(textKey(name));
}

/** `unsigned` is the message without TSIG and with the identifier that was signed. */
function computeMac(
  unsigned: Uint8Array,
  tsig: Omit<Tsig, "mac">,
  key: TsigKey,
  { hmac, priorMac, timersOnly = false }: MacOptions,
): Uint8Array {
  const writer = new Writer();
  if (priorMac !== undefined) writer.sizedBytes(priorMac);
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
    writer.sizedBytes(tsig.other);
  }
  return hmac(key.algorithm, key.secret, writer.finish());
}

interface SignOptions extends MacOptions {
  readonly key: TsigKey;
  readonly error?: number;
  /** For BADTIME: the response carries the server's time. */
  readonly tellTime?: boolean;
}

/** The number of octets that signing adds to a message. */
export function tsigBytes(key: TsigKey): number {
  const names = encodeName(key.name).length + encodeName(key.algorithm).length;
  return names + 26 + macBytesByAlgorithm[key.algorithm];
}

function changeAdditionalCount(message: Uint8Array, change: 1 | -1): void {
  const count = ((message[10]! << 8) | message[11]!) + change;
  message.set([count >>> 8, count & 0xff], 10);
}

function appendRecord(message: Uint8Array, record: Uint8Array): Uint8Array {
  const bytes = concatBytes([message, record]);
  changeAdditionalCount(bytes, 1);
  return bytes;
}

/** Returns the message with TSIG at the end, and the MAC, which the next message signs as well. */
export function signMessage(
  message: Uint8Array,
  options: SignOptions,
): { readonly bytes: Uint8Array; readonly mac: Uint8Array } {
  const { key, nowSeconds } = options;
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
  const mac = computeMac(message, tsig, key, options);
  return { bytes: appendRecord(message, encodeTsig({ ...tsig, mac })), mac };
}

/** RFC 8945 section 5.3.2: the response to an unknown key or a bad signature is not signed. */
export function refuseSignature(message: Uint8Array, requested: Tsig, error: number): Uint8Array {
  const none = new Uint8Array();
  return appendRecord(message, encodeTsig({ ...requested, mac: none, error, other: none }));
}

interface VerifyOptions extends MacOptions {
  readonly findKey: (name: string) => TsigKey | undefined;
  /** RFC 8945 section 5.3.1: the unsigned messages of a stream since the last signed message. */
  readonly before?: readonly Uint8Array[];
}

function withoutTsig(bytes: Uint8Array, offset: number, originalId: number): Uint8Array {
  const unsigned = bytes.slice(0, offset);
  unsigned.set([originalId >>> 8, originalId & 0xff]);
  changeAdditionalCount(unsigned, -1);
  return unsigned;
}

/**
 * The verdict on a message. "bad" has the error BADKEY, BADSIG, BADTIME or BADTRUNC, and for BADTIME
 * the key, because that response is signed; the RCODE of each is NOTAUTH.
 *
 * Throws WireError (FORMERR) when the message is malformed or the MAC has a forbidden length.
 */
export function verifyMessage(bytes: Uint8Array, options: VerifyOptions) {
  const { message, tsigOffset } = parseMessage(bytes);
  const { tsig } = message;
  if (tsig === null || tsigOffset === null) return { kind: "unsigned", message } as const;
  const bad = (error: number, key: TsigKey | null = null) =>
    ({ kind: "bad", message, error, key }) as const;
  const key = options.findKey(tsig.keyName.toLowerCase());
  if (key?.algorithm !== tsig.algorithm.toLowerCase()) return bad(rcodes.BADKEY);
  const macBytes = macBytesByAlgorithm[key.algorithm];
  if (tsig.mac.length > macBytes || tsig.mac.length < Math.max(macBytesMin, macBytes / 2)) {
    throw new WireError("The MAC has a wrong length");
  }
  const unsigned = withoutTsig(bytes, tsigOffset, tsig.originalId);
  const stream = concatBytes([...(options.before ?? []), unsigned]);
  const expected = computeMac(stream, tsig, key, options);
  if (!isSameSecret(expected.slice(0, tsig.mac.length), tsig.mac)) return bad(badSignature);
  if (Math.abs(options.nowSeconds - tsig.timeSignedSeconds) > tsig.fudgeSeconds) {
    return bad(rcodes.BADTIME, key);
  }
  // RFC 8945 section 5.2.2.1: a truncated MAC needs a local policy; this server has none.
  if (tsig.mac.length < macBytes) return bad(rcodes.BADTRUNC);
  return { kind: "good", message, key, mac: tsig.mac } as const;
}
