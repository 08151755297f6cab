/**
 * The second step for a response that needs external addresses: resolve the question of the first
 * step, put the result into the cache, and respond again.
 */
import {
  isExternalNeeded,
  type ExternalAddressCache,
  type ExternalNeeded,
  type ExternalQuestion,
  type ExternalResult,
} from "./external-addresses.ts";
import type { ResponderResult } from "./responder.ts";

/** A result can expire, or the zones can change, before the response is made. */
const roundsMax = 8;

export type ResolveExternal = (question: ExternalQuestion) => Promise<ExternalResult>;

export interface ExternalResolution {
  readonly external: ExternalAddressCache;
  readonly resolve: ResolveExternal;
  readonly nowSeconds: () => number;
}

export async function resolveIntoCache(
  question: ExternalQuestion,
  { external, resolve, nowSeconds }: ExternalResolution,
): Promise<void> {
  external.put(question, await resolve(question), nowSeconds());
}

/**
 * Resolves to `null`, no response, when the responder still needs an address after the last round.
 *
 * @param first the result of the first `respond()`
 */
export async function respondAfterResolving(
  first: ResponderResult,
  respond: () => ResponderResult,
  resolution: ExternalResolution,
): Promise<Exclude<ResponderResult, ExternalNeeded>> {
  let result = first;
  for (let round = 0; round < roundsMax; round++) {
    if (!isExternalNeeded(result)) return result;
    await resolveIntoCache(result.question, resolution);
    result = respond();
  }
  return isExternalNeeded(result) ? null : result;
}
