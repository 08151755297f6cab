/** An answer that may need others' answers first: asks for them, remembers them, and tries again. */
import type {
  ExternalAddressCache,
  ExternalQuestion,
  ExternalResult,
} from "./external-addresses.ts";
import type { Asker, Responder, Response } from "./responder.ts";

/** A chain can leave the zones and come back only so often before it is a loop. */
const roundsMax = 8;

export type ResolveExternal = (question: ExternalQuestion) => Promise<ExternalResult>;

export async function respondFully(
  query: Uint8Array,
  asker: Asker,
  options: {
    readonly responder: Responder;
    readonly outside: ExternalAddressCache;
    readonly resolve: ResolveExternal;
    readonly nowSeconds: () => number;
  },
): Promise<Exclude<Response, { kind: "outside" }>> {
  const { responder, outside, resolve, nowSeconds } = options;
  for (let round = 0; round < roundsMax; round++) {
    const response = responder.respond(query, asker, nowSeconds());
    if (response === null || response instanceof Uint8Array || response.kind === "transfer") {
      return response;
    }
    await Promise.all(
      response.questions.map(async (question) => {
        outside.put(question, await resolve(question), nowSeconds());
      }),
    );
  }
  return null;
}
