/**
 * Makes the RRSIG records of answers. A signature comes from a cache, or from the function that the
 * runtime gives; without that function the caller of the responder makes the signatures
 * (`SignaturesNeeded`) and puts them into the cache.
 *
 * Time is divided into periods, and all signatures of a period have the same window of two days, as
 * long as that of the deployed service. So equal octets are signed once in a period, and no signature
 * that is sent ends within 21 hours. Clocks of validators may be wrong by as much.
 */
import { concatBytes } from "../wire/bytes.ts";
import { nameKey } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import {
  encodeSignatureFields,
  labelCount,
  signatureAlgorithm,
  signedOctets,
} from "./signature.ts";
import { hasFault, keyFor, type SigningKey, type ZoneSigning } from "./zone-signing.ts";

const hourSeconds = 3600;
export const periodSeconds = 6 * hourSeconds;
const marginSeconds = 21 * hourSeconds;
/** As many as a large zone has sets in use; about 20 MB. */
const signaturesMax = 50_000;
/** `String.fromCharCode` takes its arguments from the stack. */
const argumentsMax = 4096;

export interface SignatureRequest {
  readonly key: SigningKey;
  readonly octets: Uint8Array;
}

/** Makes the 64 octets of an ECDSA signature (RFC 6605 section 4). */
export type Sign = (request: SignatureRequest) => Uint8Array;

/** In place of an answer: the caller makes these signatures, puts them, and asks again. */
export interface SignaturesNeeded {
  readonly kind: "signatures";
  readonly requests: readonly SignatureRequest[];
}

export class AnswerSigner {
  readonly #sign: Sign | null;
  /**
   * By the key and the octets that they cover. Nothing invalidates an entry: other records, another
   * window or another key are other octets.
   */
  readonly #signatures = new Map<string, Uint8Array>();

  constructor({ sign }: { readonly sign?: Sign } = {}) {
    this.#sign = sign ?? null;
  }

  /**
   * The RRSIG set of a set.
   *
   * @param originalTtlSeconds at least the TTL of the set, and the same for all answers (RFC 4034
   *   section 3.1.4)
   */
  sign(
    set: RecordSet,
    { apex, signing }: { readonly apex: Uint8Array; readonly signing: ZoneSigning },
    { nowSeconds, originalTtlSeconds }: Record<"nowSeconds" | "originalTtlSeconds", number>,
  ): RecordSet | SignatureRequest {
    const key = keyFor(set.type, signing);
    const { faults } = signing;
    const owner = faults.length > 0 ? nameKey(set.owner) : "";
    const isExpired = hasFault(faults, "expired_signature", owner);
    const fields = {
      typeCovered: set.type,
      algorithm: signatureAlgorithm,
      labels: labelCount(set.owner),
      originalTtlSeconds,
      ...signatureWindow(nowSeconds, isExpired),
      keyTag: key.keyTag,
      signerName: apex,
    };
    const request = { key, octets: signedOctets(set, fields) };
    let signature = this.#signatures.get(cacheKey(request));
    if (signature === undefined) {
      if (this.#sign === null) return request;
      signature = this.#sign(request);
      this.put(request, signature);
    }
    const isWrong = hasFault(faults, "wrong_signature", owner);
    const data = [encodeSignatureFields(fields), isWrong ? spoil(signature) : signature];
    return {
      owner: set.owner,
      type: typeCodes.RRSIG,
      ttlSeconds: set.ttlSeconds,
      data: [concatBytes(data)],
    };
  }

  /** Takes a signature that `SignaturesNeeded` asked for. */
  put(request: SignatureRequest, signature: Uint8Array): void {
    // A map keeps the order of insertion: the first entry is the oldest.
    const [oldest] = this.#signatures.size < signaturesMax ? [] : this.#signatures.keys();
    if (oldest !== undefined) this.#signatures.delete(oldest);
    this.#signatures.set(cacheKey(request), signature);
  }
}

function cacheKey({ key, octets }: SignatureRequest): string {
  let text = key.publicKey;
  for (let at = 0; at < octets.length; at += argumentsMax) {
    const part: ArrayLike<number> = octets.subarray(at, at + argumentsMax);
    text += String.fromCharCode.apply(null, part as number[]);
  }
  return text;
}

/** A signature of the same form that belongs to no records. */
function spoil(signature: Uint8Array): Uint8Array {
  // Not `slice()`, which in a Buffer of Node shares memory with the cached signature.
  const spoiled = Uint8Array.from(signature);
  spoiled[spoiled.length - 1]! ^= 1;
  return spoiled;
}

export function signaturePeriod(nowSeconds: number): number {
  return Math.floor(nowSeconds / periodSeconds);
}

/** @param hasEnded for the window before the last, which has ended whatever the time in the period */
function signatureWindow(nowSeconds: number, hasEnded: boolean) {
  const lengthSeconds = periodSeconds + 2 * marginSeconds;
  const inception = signaturePeriod(nowSeconds) * periodSeconds - marginSeconds;
  const start = hasEnded ? inception - lengthSeconds : inception;
  return {
    inceptionSeconds: Math.max(0, start),
    expirationSeconds: Math.max(0, start + lengthSeconds),
  };
}
