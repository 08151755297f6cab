/**
 * Handles a query from any transport. Most responses are made at once; a response that needs an
 * external address (a flattened CNAME) waits for the resolver.
 */
import {
  respondAfterResolving,
  type Needed,
  type ExternalResolution,
} from "../answer/external-addresses.ts";
import type { QuerySource } from "../answer/query.ts";
import type { Responder, TransferRequest } from "../answer/responder.ts";

/** Queries that wait for the resolver. More queries get no response, and their clients retry. */
const waitingMax = 10_000;

export interface QueryHandlerOptions extends ExternalResolution {
  readonly responder: Responder;
  readonly transfer: (request: TransferRequest, source: QuerySource) => AsyncIterable<Uint8Array>;
}

/** `null`: no response. An iterable is a zone transfer, over TCP only. */
export type HandlerResult =
  | Uint8Array
  | null
  | Promise<Uint8Array | null>
  | AsyncIterable<Uint8Array>;

export class QueryHandler {
  readonly #options: QueryHandlerOptions;
  #waiting = 0;

  constructor(options: QueryHandlerOptions) {
    this.#options = options;
  }

  handle(query: Uint8Array, source: QuerySource): HandlerResult {
    const { responder, nowSeconds, transfer } = this.#options;
    const result = responder.respond(query, source, nowSeconds());
    if (result === null || result instanceof Uint8Array) return result;
    if (result.kind === "transfer") return transfer(result, source);
    if (this.#waiting >= waitingMax) return null;
    return this.#handleAfterResolving(result, query, source);
  }

  async #handleAfterResolving(
    needed: Needed,
    query: Uint8Array,
    source: QuerySource,
  ): Promise<Uint8Array | null> {
    const { responder, nowSeconds } = this.#options;
    const respond = () => responder.respond(query, source, nowSeconds());
    this.#waiting += 1;
    try {
      const result = await respondAfterResolving(needed, respond, this.#options);
      return result instanceof Uint8Array ? result : null;
    } finally {
      this.#waiting -= 1;
    }
  }
}
