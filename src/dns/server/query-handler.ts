/**
 * Handles a query from any transport. Most responses are made at once; a response that needs an
 * external address (a flattened CNAME) waits for the resolver. `ObservedQueries` keeps
 * or logs the queries, and makes the faults of tests.
 */
import { createPrivateKey, sign, type KeyObject } from "node:crypto";
import { Resolver } from "node:dns/promises";
import {
  respondAfterResolving,
  type ExternalQuestion,
  type ExternalResolution,
  type ExternalResult,
  type ResolveExternal,
} from "../answer/external-addresses.ts";
import type { QuerySource } from "../answer/query.ts";
import type { Responder, ResponderResult, TransferRequest } from "../answer/responder.ts";
import type { ServedZones } from "../answer/served-zones.ts";
import type { SignatureRequest } from "../dnssec/answer-signer.ts";
import type { SigningKey } from "../dnssec/zone-signing.ts";
import type { AnswerWays, ObservedQueries } from "../fault/observed-queries.ts";

/** Queries that wait for the resolver. More queries get no response, and their clients retry. */
const waitingMax = 10_000;

interface QueryHandlerOptions extends ExternalResolution {
  readonly responder: Responder;
  readonly transfer: (request: TransferRequest, source: QuerySource) => AsyncIterable<Uint8Array>;
  readonly observation?: {
    readonly observed: ObservedQueries;
    readonly responderFor: (zones: ServedZones) => Responder;
  };
}

/** `null`: no response. An iterable is a zone transfer, over TCP only. */
type HandlerResult = Uint8Array | null | Promise<Uint8Array | null> | AsyncIterable<Uint8Array>;

export type HandleQuery = (query: Uint8Array, source: QuerySource) => HandlerResult;

export function makeQueryHandler(options: QueryHandlerOptions): HandleQuery {
  const { responder, nowSeconds, transfer, observation } = options;
  let waiting = 0;

  const answer: HandleQuery = (query, source) => {
    const result = responder.respond(query, source, nowSeconds());
    if (result === null || result instanceof Uint8Array) return result;
    if (result.kind === "transfer") return transfer(result, source);
    return waiting >= waitingMax ? null : answerLate(responder, query, source, result);
  };

  const answerLate = async (
    by: Responder,
    query: Uint8Array,
    source: QuerySource,
    first?: ResponderResult,
  ): Promise<Uint8Array | null> => {
    const respond = () => by.respond(query, source, nowSeconds());
    waiting += 1;
    try {
      const result = await respondAfterResolving(first ?? respond(), respond, options);
      return result instanceof Uint8Array ? result : null;
    } finally {
      waiting -= 1;
    }
  };

  if (observation === undefined) return answer;
  const { observed, responderFor } = observation;
  const ways: AnswerWays = {
    answer,
    answerFrom: (zones, query, source) => answerLate(responderFor(zones), query, source),
  };
  return (query, source) => observed.handle(query, source, ways);
}

/** DNS clients give up after five seconds; both tries must end before. */
const timeoutMilliseconds = 2000;
const triesMax = 2;
/** Node does not tell the TTL of a negative answer. */
const absentSeconds = 30;
/** The codes of c-ares for a server's answer without addresses. */
const absentCodes = new Set(["ENODATA", "ENOTFOUND"]);

/**
 * Resolves external names with the configured resolvers or the system's. Concurrent questions for
 * the same name and type share one query.
 *
 * @param servers `address` or `address:port`; the system's resolvers when empty
 */
export function makeExternalResolver(servers: readonly string[]): {
  readonly resolve: ResolveExternal;
  stop(): void;
} {
  const resolver = new Resolver({ timeout: timeoutMilliseconds, tries: triesMax });
  if (servers.length > 0) resolver.setServers(servers);
  const pending = new Map<string, Promise<ExternalResult>>();

  const query = async ({ name, type }: ExternalQuestion): Promise<ExternalResult> => {
    try {
      const found = await resolver[type === "A" ? "resolve4" : "resolve6"](name, { ttl: true });
      return {
        addresses: found.map(({ address }) => address),
        ttlSeconds: Math.min(...found.map(({ ttl }) => ttl)),
      };
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      return absentCodes.has(code) ? { addresses: [], ttlSeconds: absentSeconds } : "failed";
    }
  };

  return {
    resolve(question) {
      const key = `${question.type} ${question.name}`;
      const result = pending.get(key) ?? query(question).finally(() => pending.delete(key));
      pending.set(key, result);
      return result;
    },
    stop: () => resolver.cancel(),
  };
}

/** A key is imported once for each publication of its zone's head. */
const importedKeys = new WeakMap<SigningKey, KeyObject>();

/** Makes a signature with Node's crypto, which is synchronous and takes about 76 µs. */
export function signRecordSet({ key: signingKey, octets }: SignatureRequest): Uint8Array {
  let key = importedKeys.get(signingKey);
  if (key === undefined) {
    key = createPrivateKey({ key: signingKey.privateKey, format: "jwk" });
    importedKeys.set(signingKey, key);
  }
  return sign("sha256", octets, { key, dsaEncoding: "ieee-p1363" });
}
