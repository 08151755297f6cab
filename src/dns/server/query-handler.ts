/**
 * Handles a query from any transport. Most responses are made at once; a response that needs an
 * external address (a flattened CNAME) waits for the resolver. While a test observes queries, they
 * pass through `ObservedQueries`.
 */
import { respondAfterResolving, type ExternalResolution } from "../answer/external-addresses.ts";
import type { QuerySource } from "../answer/query.ts";
import type { Responder, ResponderResult, TransferRequest } from "../answer/responder.ts";
import type { ServedZones } from "../answer/served-zones.ts";
import type { ObservedQueries } from "../fault/observed-queries.ts";

/** Queries that wait for the resolver. More queries get no response, and their clients retry. */
const waitingMax = 10_000;

export interface QueryHandlerOptions extends ExternalResolution {
  readonly responder: Responder;
  readonly transfer: (request: TransferRequest, source: QuerySource) => AsyncIterable<Uint8Array>;
  /** Faults and the log of queries */
  readonly observation?: {
    readonly observed: ObservedQueries;
    /** A responder for earlier zones */
    readonly responderFor: (zones: ServedZones) => Responder;
  };
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
    const { observation } = this.#options;
    if (observation?.observed.isActive !== true) return this.#answer(query, source);
    const { observed, responderFor } = observation;
    return observed.handle(query, source, {
      answer: () => this.#answer(query, source),
      answerFrom: (zones) => this.#answerLate(responderFor(zones), query, source),
    });
  }

  #answer(query: Uint8Array, source: QuerySource): HandlerResult {
    const { responder, nowSeconds, transfer } = this.#options;
    const result = responder.respond(query, source, nowSeconds());
    if (result === null || result instanceof Uint8Array) return result;
    if (result.kind === "transfer") return transfer(result, source);
    if (this.#waiting >= waitingMax) return null;
    return this.#answerLate(responder, query, source, result);
  }

  async #answerLate(
    responder: Responder,
    query: Uint8Array,
    source: QuerySource,
    first?: ResponderResult,
  ): Promise<Uint8Array | null> {
    const respond = () => responder.respond(query, source, this.#options.nowSeconds());
    this.#waiting += 1;
    try {
      const result = await respondAfterResolving(first ?? respond(), respond, this.#options);
      return result instanceof Uint8Array ? result : null;
    } finally {
      this.#waiting -= 1;
    }
  }
}
