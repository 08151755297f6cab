/**
 * DNS over HTTPS (RFC 8484): messages by GET and POST, and the JSON form of the deployed service.
 * Nobody needs credentials to ask what everybody may know. A name that does not exist is an answer,
 * so it is 200 too; other statuses say that there was no query to answer.
 */
import type { Env } from "../objects/environment.ts";
import { isolateZones } from "../replication/isolate-zones.ts";
import { decodeMessage, type Message } from "../../src/dns/wire/message.ts";
import { ExternalAddressCache } from "../../src/dns/answer/external-addresses.ts";
import { respondAfterResolving } from "../../src/dns/answer/external-resolution.ts";
import type { QuerySource } from "../../src/dns/answer/query.ts";
import { Responder } from "../../src/dns/answer/responder.ts";
import { describeMessage } from "./json-form.ts";
import { explainQuery } from "./explain.ts";
import { askListeners } from "./external-resolver.ts";
import {
  DohError,
  jsonType,
  messageType,
  readFlag,
  readJsonQuery,
  readMessageQuery,
} from "./query.ts";

export const dohPath = "/dns-query";

/** Only cookies need an address, and DoH has no cookies. */
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

/** `explain` is our own: the rules that made the answer stand beside it. */
async function serveJson(parameters: URLSearchParams, env: Env): Promise<Response> {
  const query = readJsonQuery(parameters);
  const message = decodeMessage(await answer(query, env));
  if (!readFlag(parameters.get("explain"))) return jsonResponse(message, {});
  const zones = await isolateZones.load(env);
  const Reasons = explainQuery(query, { zones, external, nowSeconds: nowSeconds() });
  return jsonResponse(message, { Reasons });
}

/** The deployed service takes the wish in `ct` as well; a query by `name` can be nothing else. */
function isJsonWanted(request: Request, { searchParams }: URL): boolean {
  if (searchParams.has("dns")) return false;
  const accepted = `${request.headers.get("accept") ?? ""} ${searchParams.get("ct") ?? ""}`;
  return accepted.includes(jsonType) || searchParams.has("name");
}

async function answer(query: Uint8Array, env: Env): Promise<Uint8Array> {
  const zones = await isolateZones.load(env);
  const ready = (responder ??= new Responder({ zones, external, onError: console.error }));
  const respond = () => ready.respond(query, source, nowSeconds());
  const resolution = { external, resolve: askListeners(env), nowSeconds };
  const response = await respondAfterResolving(respond(), respond, resolution);
  if (response instanceof Uint8Array) return response;
  throw new DohError(400, "That is no DNS query.");
}

/** Kept by caches for as long as any part of the answer may be (RFC 8484 section 5.1). */
function cacheControl({ rcode, answers, authorities }: Message): string {
  const [noerror, nxdomain] = [0, 3];
  const believed = answers.length > 0 ? answers : authorities;
  const cacheable = (rcode === noerror || rcode === nxdomain) && believed.length > 0;
  if (!cacheable) return "no-store";
  return `max-age=${Math.min(...believed.map(({ ttlSeconds }) => ttlSeconds))}`;
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
