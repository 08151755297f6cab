/**
 * Makes the RRSIG records of answers. A signature comes from a cache, or from the function that the
 * runtime gives; without that function the caller of the responder makes the signatures
 * (`SignaturesNeeded`) and puts them into the cache.
 *
 * Sets of names that a zone has are cached apart from the sets of names that clients make up: NSEC
 * records of names that do not exist, and sets that a wildcard gives to a name. The latter have a
 * budget too, because a client can ask for any number of them.
 */
import { concatBytes } from "../wire/bytes.ts";
import { nameKey } from "../wire/name-key.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import {
  encodeSignatureFields,
  labelCount,
  signatureAlgorithm,
  signedOctets,
} from "./signature.ts";
import { SignatureCache, type SignatureRequest } from "./signature-cache.ts";
import { hasFault } from "./signature-fault.ts";
import { endedWindow, signatureWindow } from "./signature-window.ts";
import { SigningBudget } from "./signing-budget.ts";
import { keyFor, type ZoneSigning } from "./zone-signing.ts";

/** Makes the 64 octets of an ECDSA signature (RFC 6605 section 4). */
export type Sign = (request: SignatureRequest) => Uint8Array;

/** In place of an answer: the caller makes these signatures, puts them, and asks again. */
export interface SignaturesNeeded {
  readonly kind: "signatures";
  readonly requests: readonly SignatureRequest[];
}

/** As many as a large zone has sets in use; about 20 MB. */
const storedSignaturesMax = 50_000;
const synthesisedSignaturesMax = 10_000;
/** A sixth of what an idle processor signs (13,000 a second), and half of a busy one (4,000). */
const synthesisedPerSecond = 2000;

export interface AnswerSignerOptions {
  readonly sign?: Sign;
  readonly synthesisedPerSecond?: number;
}

export interface SetToSign {
  readonly set: RecordSet;
  readonly apex: Uint8Array;
  readonly signing: ZoneSigning;
  readonly nowSeconds: number;
  /** At least the TTL of the set, and the same for all answers (RFC 4034 section 3.1.4). */
  readonly originalTtlSeconds: number;
  /** The zone does not have the owner of the set. */
  readonly isSynthesised: boolean;
  /** The client's address is proven. */
  readonly isProven: boolean;
}

export class AnswerSigner {
  readonly #sign: Sign | null;
  readonly #stored = new SignatureCache({ entriesMax: storedSignaturesMax });
  readonly #synthesised = new SignatureCache({ entriesMax: synthesisedSignaturesMax });
  readonly #budget: SigningBudget;

  constructor(options: AnswerSignerOptions = {}) {
    this.#sign = options.sign ?? null;
    this.#budget = new SigningBudget({
      perSecond: options.synthesisedPerSecond ?? synthesisedPerSecond,
    });
  }

  /** The RRSIG set of a set. "overloaded": the budget is used up. */
  sign(wanted: SetToSign): RecordSet | SignatureRequest | "overloaded" {
    const { set, apex, signing, nowSeconds, originalTtlSeconds, isSynthesised, isProven } = wanted;
    const key = keyFor(set.type, signing);
    const owner = nameKey(set.owner);
    const { faults } = signing;
    const isExpired = faults.length > 0 && hasFault(faults, "expired_signature", owner);
    const fields = {
      typeCovered: set.type,
      algorithm: signatureAlgorithm,
      labels: labelCount(set.owner),
      originalTtlSeconds,
      ...(isExpired ? endedWindow(nowSeconds) : signatureWindow(nowSeconds)),
      keyTag: key.keyTag,
      signerName: apex,
    };
    const request = { key, octets: signedOctets(set, fields) };
    const cache = isSynthesised ? this.#synthesised : this.#stored;
    let signature = cache.get(request);
    if (signature === undefined) {
      if (isSynthesised && !this.#budget.take(nowSeconds, { isProven })) return "overloaded";
      if (this.#sign === null) return { ...request, isSynthesised };
      signature = this.#sign(request);
      cache.put(request, signature);
    }
    const isWrong = faults.length > 0 && hasFault(faults, "wrong_signature", owner);
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
    const cache = request.isSynthesised === true ? this.#synthesised : this.#stored;
    cache.put(request, signature);
  }
}

/** A signature of the same form that belongs to no records. */
function spoil(signature: Uint8Array): Uint8Array {
  // Not `slice()`, which in a Buffer of Node shares memory with the cached signature.
  const spoiled = Uint8Array.from(signature);
  spoiled[spoiled.length - 1]! ^= 1;
  return spoiled;
}
