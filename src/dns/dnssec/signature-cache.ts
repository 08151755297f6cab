/**
 * Signatures by the octets that they cover and the key. Nothing invalidates an entry: other records,
 * another window or another key are other octets. The cache has two generations. When the young one
 * is full it becomes the old one, and the old one is dropped: entries in use move to the young one.
 */
import type { SigningKey } from "./zone-signing.ts";

export interface SignatureRequest {
  readonly key: SigningKey;
  readonly octets: Uint8Array;
  /** For a name that the zone does not have. */
  readonly isSynthesised?: boolean;
}

/** `String.fromCharCode` takes its arguments from the stack. */
const argumentsMax = 4096;

function cacheKey({ key, octets }: SignatureRequest): string {
  let text = key.publicKey;
  for (let at = 0; at < octets.length; at += argumentsMax) {
    const part: ArrayLike<number> = octets.subarray(at, at + argumentsMax);
    text += String.fromCharCode.apply(null, part as number[]);
  }
  return text;
}

export class SignatureCache {
  readonly #generationMax: number;
  #young = new Map<string, Uint8Array>();
  #old = new Map<string, Uint8Array>();

  constructor({ entriesMax }: { readonly entriesMax: number }) {
    this.#generationMax = Math.max(1, Math.floor(entriesMax / 2));
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(request: SignatureRequest): Uint8Array | undefined {
    const key = cacheKey(request);
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) {
      this.#old.delete(key);
      this.#put(key, old);
    }
    return old;
  }

  put(request: SignatureRequest, signature: Uint8Array): void {
    this.#put(cacheKey(request), signature);
  }

  #put(key: string, signature: Uint8Array): void {
    if (this.#young.size >= this.#generationMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, signature);
  }
}
