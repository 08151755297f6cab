/**
 * DNS over HTTPS (RFC 8484): messages by GET and POST, and the JSON API of the deployed service.
 * Queries need no credentials. Every DNS response has HTTP status 200, NXDOMAIN included; another
 * status means that the request holds no query.
 */
import type { Env } from "../objects/environment.ts";
import { loadZones } from "../objects/load-zones.ts";
import { observedQueries } from "../objects/query-observation.ts";
import { isolateQueries } from "../replication/isolate-queries.ts";
import { ZoneError } from "../../src/dns/record/problem.ts";
import { decodeMessage, type Message } from "../../src/dns/wire/message.ts";
import { AnswerSigner } from "../../src/dns/dnssec/answer-signer.ts";
import { rcodes } from "../../src/dns/wire/numbers.ts";
import {
  ExternalAddressCache,
  respondAfterResolving,
} from "../../src/dns/answer/external-addresses.ts";
import type { QuerySource } from "../../src/dns/answer/query.ts";
import type { ServedZones } from "../../src/dns/answer/served-zones.ts";
import { Responder } from "../../src/dns/answer/responder.ts";
import { resolveByListeners } from "../replication/listeners.ts";
import { explainAnswer } from "./explain-answer.ts";
import {
  DohError,
  jsonType,
  messageType,
  readFlag,
  readJsonQuery,
  readMessageQuery,
} from "./http-query.ts";
import { describeMessage } from "./json-message.ts";
import { clientOf } from "../api/call-log.ts";
import { signPending } from "./sign-pending.ts";

export const dohPath = "/dns-query";

/** Only transfers need the address. */
const anySource: QuerySource = { transport: "https", address: new Uint8Array(4) };

const external = new ExternalAddressCache();
const signer = new AnswerSigner();
let responder: Responder | null = null;

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

export async function serveDoh(request: Request, url: URL, env: Env): Promise<Response> {
  const client = clientOf(request.headers);
  const source = client === null ? anySource : { ...anySource, client };
  try {
    if (isJsonWanted(request, url)) return await serveJson(url.searchParams, env, source);
    const bytes = await answer(await readMessageQuery(request, url), env, source);
    return respond(bytes as Uint8Array<ArrayBuffer>, messageType, decodeMessage(bytes));
  } catch (error) {
    if (error instanceof ZoneError) return new Response(null, { status: 400 });
    if (!(error instanceof DohError)) throw error;
    return new Response(`${error.message}\n`, { status: error.status, headers: error.headers });
  }
}

/** `explain` is an addition of this server: it adds the rules that made the answer. */
async function serveJson(
  parameters: URLSearchParams,
  env: Env,
  source: QuerySource,
): Promise<Response> {
  const query = readJsonQuery(parameters);
  const message = decodeMessage(await answer(query, env, source));
  const json = describeMessage(message);
  if (readFlag(parameters.get("explain"))) {
    const zones = await loadZones(env);
    json["Reasons"] = explainAnswer(query, { zones, external, nowSeconds: nowSeconds() }, signer);
  }
  return respond(JSON.stringify(json), jsonType, message);
}

/** As the deployed service does, accepts the type in `ct` too. `name` implies JSON. */
function isJsonWanted({ method, headers }: Request, { searchParams }: URL): boolean {
  if ((method !== "GET" && method !== "HEAD") || searchParams.has("dns")) return false;
  const accepted = `${headers.get("accept") ?? ""} ${searchParams.get("ct") ?? ""}`;
  return accepted.includes(jsonType) || searchParams.has("name");
}

async function answer(query: Uint8Array, env: Env, source: QuerySource): Promise<Uint8Array> {
  const zones = await loadZones(env);
  const ready = (responder ??= makeResponder(zones));
  if (!observedQueries.isActive) return answerWith(ready, query, env);
  const reply = await observedQueries.handle(query, source, {
    answer: () => answerWith(ready, query, env),
    answerFrom: (past) => answerWith(responderFor(past), query, env),
  });
  if (reply instanceof Uint8Array) return reply;
  // HTTP has an answer for every request: this one says that there is none.
  throw new DohError(503, "A fault of this test server has dropped the query.");
}

async function answerWith(ready: Responder, query: Uint8Array, env: Env): Promise<Uint8Array> {
  const attempt = () => ready.respond(query, anySource, nowSeconds());
  const resolve = resolveByListeners(env);
  const resolution = { external, resolve, nowSeconds, sign: signPending(signer) };
  const response = await respondAfterResolving(attempt(), attempt, resolution);
  if (response instanceof Uint8Array) return response;
  throw new DohError(400, "The request holds no DNS query.");
}

function makeResponder(zones: ServedZones): Responder {
  const made = new Responder({ zones, external, signer, onError: console.error });
  isolateQueries.count = () => made.countQueries();
  return made;
}

const pastResponders = new WeakMap<ServedZones, Responder>();

/** A responder for the zones of a fault. It ends with these zones. */
function responderFor(zones: ServedZones): Responder {
  const made =
    pastResponders.get(zones) ?? new Responder({ zones, external, signer, onError: console.error });
  pastResponders.set(zones, made);
  return made;
}

/** Caches keep an answer for its smallest TTL (RFC 8484 section 5.1). */
function cacheControl({ rcode, answers, authorities }: Message): string {
  const counted = answers.length > 0 ? answers : authorities;
  const isCacheable = rcode === rcodes.NOERROR || rcode === rcodes.NXDOMAIN;
  if (!isCacheable || counted.length === 0) return "no-store";
  return `max-age=${Math.min(...counted.map(({ ttlSeconds }) => ttlSeconds))}`;
}

function respond(body: BodyInit, type: string, message: Message): Response {
  const headers = { "content-type": type, "cache-control": cacheControl(message) };
  return new Response(body, { headers });
}
