/**
 * Makes the RRSIG records of answers. A signature comes from a cache, or from the function that the
 * runtime gives; without that function the caller of the responder makes the signatures
 * (`SignaturesNeeded`) and puts them into the cache.
 *
 * Time is divided into periods, and all signatures of a period have the same window of two days, as
 * long as that of the deployed service. So equal octets are signed once in a period. No signature that
 * is sent ends within 25 hours: caches may keep a set for a day, the largest TTL, and must not keep it
 * longer than its signature is valid. Clocks of validators may be behind by 17 hours.
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
import { hasFault, keysFor, type CurrentSigning, type SigningKey } from "./zone-signing.ts";

const hourSeconds = 3600;
export const periodSeconds = 6 * hourSeconds;
/** The largest TTL (`ttlSecondsMax`), and an hour for clocks that are ahead. */
const remainingSecondsMin = 25 * hourSeconds;
const lengthSeconds = 48 * hourSeconds;
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
   * The RRSIG set of a set, or the signatures that it needs.
   *
   * @param originalTtlSeconds at least the TTL of the set, and the same for all answers (RFC 4034
   *   section 3.1.4)
   */
  sign(
    set: RecordSet,
    { apex, signing }: { readonly apex: Uint8Array; readonly signing: CurrentSigning },
    { nowSeconds, originalTtlSeconds }: Record<"nowSeconds" | "originalTtlSeconds", number>,
  ): RecordSet | SignatureRequest[] {
    const { faults } = signing;
    const owner = faults.length > 0 ? nameKey(set.owner) : "";
    const isWrong = hasFault(faults, "wrong_signature", owner);
    const window = signatureWindow(nowSeconds, hasFault(faults, "expired_signature", owner));
    const data: Uint8Array[] = [];
    const requests: SignatureRequest[] = [];
    for (const key of keysFor(set.type, signing)) {
      const fields = {
        typeCovered: set.type,
        algorithm: signatureAlgorithm,
        labels: labelCount(set.owner),
        originalTtlSeconds,
        ...window,
        keyTag: key.keyTag,
        signerName: apex,
      };
      const request = { key, octets: signedOctets(set, fields) };
      const signature = this.#signatures.get(cacheKey(request)) ?? this.#make(request);
      if (signature === null) requests.push(request);
      else
        data.push(
          concatBytes([encodeSignatureFields(fields), isWrong ? spoil(signature) : signature]),
        );
    }
    if (requests.length > 0) return requests;
    return { owner: set.owner, type: typeCodes.RRSIG, ttlSeconds: set.ttlSeconds, data };
  }

  #make(request: SignatureRequest): Uint8Array | null {
    if (this.#sign === null) return null;
    const signature = this.#sign(request);
    this.put(request, signature);
    return signature;
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
  const expiration = (signaturePeriod(nowSeconds) + 1) * periodSeconds + remainingSecondsMin;
  const end = hasEnded ? expiration - lengthSeconds : expiration;
  return {
    inceptionSeconds: Math.max(0, end - lengthSeconds),
    expirationSeconds: Math.max(0, end),
  };
}
