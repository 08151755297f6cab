/**
 * One answer for one query, whichever way it came. Most are made at once; those that depend on a
 * name elsewhere (a flattened CNAME) wait for the resolver.
 */
import { respondFully } from "../answer/respond-fully.ts";
import type { Asker, Responder, TransferWanted } from "../answer/responder.ts";
import type { ResolveExternal } from "../answer/respond-fully.ts";
import type { ExternalAddressCache } from "../answer/external-addresses.ts";

/** Queries that wait for the resolver; more are not answered, and whoever asked asks again. */
const waitingMax = 10_000;

export interface AnswererOptions {
  readonly responder: Responder;
  readonly outside: ExternalAddressCache;
  readonly resolve: ResolveExternal;
  readonly transfer: (wanted: TransferWanted, asker: Asker) => AsyncIterable<Uint8Array>;
}

/** `null`: say nothing. Several messages are a transfer, and come over TCP only. */
export type Answer = Uint8Array | null | Promise<Uint8Array | null> | AsyncIterable<Uint8Array>;

export class Answerer {
  readonly #options: AnswererOptions;
  #waiting = 0;

  constructor(options: AnswererOptions) {
    this.#options = options;
  }

  answer(query: Uint8Array, asker: Asker): Answer {
    const response = this.#options.responder.respond(query, asker, nowSeconds());
    if (response === null || response instanceof Uint8Array) return response;
    if (response.kind === "transfer") return this.#options.transfer(response, asker);
    if (this.#waiting >= waitingMax) return null;
    return this.#answerLater(query, asker);
  }

  async #answerLater(query: Uint8Array, asker: Asker): Promise<Uint8Array | null> {
    this.#waiting += 1;
    try {
      const response = await respondFully(query, asker, { ...this.#options, nowSeconds });
      return response instanceof Uint8Array ? response : null;
    } finally {
      this.#waiting -= 1;
    }
  }
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
