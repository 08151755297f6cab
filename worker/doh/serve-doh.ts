/**
 * DNS over HTTPS (RFC 8484): messages by GET and POST, and the JSON API of the deployed service.
 * Queries need no credentials. Every DNS response has HTTP status 200, NXDOMAIN included; another
 * status means that the request holds no query.
 */
import type { Env } from "../objects/environment.ts";
import { isolateZones } from "../replication/isolate-zones.ts";
import { decodeMessage, type Message } from "../../src/dns/wire/message.ts";
import { ExternalAddressCache } from "../../src/dns/answer/external-addresses.ts";
import { respondAfterResolving } from "../../src/dns/answer/external-resolution.ts";
import type { QuerySource } from "../../src/dns/answer/query.ts";
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

export const dohPath = "/dns-query";

/** Only UDP needs the address, for cookies. */
const source: QuerySource = { transport: "https", address: new Uint8Array(4) };

const external = new ExternalAddressCache();
let responder: Responder | null = null;

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

export async function serveDoh(request: Request, url: URL, env: Env): Promise<Response> {
  try {
    if (request.method === "GET" || request.method === "HEAD") {
      if (isJsonWanted(request, url)) return await serveJson(url.searchParams, env);
    }
    return messageResponse(await answer(await readMessageQuery(request, url), env));
  } catch (error) {
    if (!(error instanceof DohError)) throw error;
    return new Response(`${error.message}\n`, { status: error.status, headers: error.headers });
  }
}

/** `explain` is an addition of this server: it adds the rules that made the answer. */
async function serveJson(parameters: URLSearchParams, env: Env): Promise<Response> {
  const query = readJsonQuery(parameters);
  const message = decodeMessage(await answer(query, env));
  if (!readFlag(parameters.get("explain"))) return jsonResponse(message, {});
  const zones = await isolateZones.load(env);
  const Reasons = explainAnswer(query, { zones, external, nowSeconds: nowSeconds() });
  return jsonResponse(message, { Reasons });
}

/** As the deployed service does, accepts the type in `ct` too. `name` implies JSON. */
function isJsonWanted(request: Request, { searchParams }: URL): boolean {
  if (searchParams.has("dns")) return false;
  const accepted = `${request.headers.get("accept") ?? ""} ${searchParams.get("ct") ?? ""}`;
  return accepted.includes(jsonType) || searchParams.has("name");
}

async function answer(query: Uint8Array, env: Env): Promise<Uint8Array> {
  const zones = await isolateZones.load(env);
  const ready = (responder ??= new Responder({ zones, external, onError: console.error }));
  const respond = () => ready.respond(query, source, nowSeconds());
  const resolution = { external, resolve: resolveByListeners(env), nowSeconds };
  const response = await respondAfterResolving(respond(), respond, resolution);
  if (response instanceof Uint8Array) return response;
  throw new DohError(400, "The request holds no DNS query.");
}

/** Caches keep an answer for its smallest TTL (RFC 8484 section 5.1). */
function cacheControl({ rcode, answers, authorities }: Message): string {
  const [noerror, nxdomain] = [0, 3];
  const counted = answers.length > 0 ? answers : authorities;
  const cacheable = (rcode === noerror || rcode === nxdomain) && counted.length > 0;
  if (!cacheable) return "no-store";
  return `max-age=${Math.min(...counted.map(({ ttlSeconds }) => ttlSeconds))}`;
}

function messageResponse(bytes: Uint8Array): Response {
  const headers = {
    "content-type": messageType,
    "cache-control": cacheControl(decodeMessage(bytes)),
  };
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
}

function jsonResponse(message: Message, more: Readonly<Record<string, unknown>>): Response {
  const headers = { "content-type": jsonType, "cache-control": cacheControl(message) };
  return new Response(JSON.stringify({ ...describeMessage(message), ...more }), { headers });
}
