/**
 * DNS over HTTPS (RFC 8484): messages by GET and POST, and the JSON form of the deployed service.
 * Nobody needs credentials to ask what everybody may know. A name that does not exist is an answer,
 * so it is 200 too; other statuses say that there was no query to answer.
 */
import type { Env } from "../objects/environment.ts";
import { isolateZones } from "../replication/isolate-zones.ts";
import { decodeMessage, type Message } from "../wire/message.ts";
import { OutsideAnswers } from "../zone/outside.ts";
import { respondFully } from "../zone/respond-fully.ts";
import { Responder, type Asker } from "../zone/respond.ts";
import { describeMessage } from "./json-form.ts";
import { DohError, readJsonQuery, readMessageQuery, MESSAGE_TYPE, JSON_TYPE } from "./query.ts";
import { askListeners } from "./outside.ts";

export const DOH_PATH = "/dns-query";

/** Cookies tell askers of UDP apart; HTTP has connections. */
const ASKER: Asker = { transport: "https", address: new Uint8Array(4) };

const outside = new OutsideAnswers();
let responder: Responder | null = null;

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

export async function serveDoh(request: Request, url: URL, env: Env): Promise<Response> {
  try {
    if (request.method === "GET" || request.method === "HEAD") {
      const json = isJsonWanted(request, url);
      if (json) return jsonResponse(await answer(readJsonQuery(url.searchParams), env));
    }
    return messageResponse(await answer(await readMessageQuery(request, url), env));
  } catch (error) {
    if (!(error instanceof DohError)) throw error;
    return new Response(`${error.message}\n`, { status: error.status, headers: error.headers });
  }
}

/** The deployed service takes the wish in `ct` as well; a query by `name` can be nothing else. */
function isJsonWanted(request: Request, { searchParams }: URL): boolean {
  if (searchParams.has("dns")) return false;
  const accepted = `${request.headers.get("accept") ?? ""} ${searchParams.get("ct") ?? ""}`;
  return accepted.includes(JSON_TYPE) || searchParams.has("name");
}

async function answer(query: Uint8Array, env: Env): Promise<Uint8Array> {
  const zones = await isolateZones.load(env);
  responder ??= new Responder({ zones, outside, onError: console.error });
  const resolve = askListeners(env);
  const response = await respondFully(query, ASKER, { responder, outside, resolve, nowSeconds });
  if (response instanceof Uint8Array) return response;
  throw new DohError(400, "That is no DNS query.");
}

/** Kept by caches for as long as any part of the answer may be (RFC 8484 section 5.1). */
function cacheControl({ rcode, answers, authorities }: Message): string {
  const [NOERROR, NXDOMAIN] = [0, 3];
  const believed = answers.length > 0 ? answers : authorities;
  const cacheable = (rcode === NOERROR || rcode === NXDOMAIN) && believed.length > 0;
  if (!cacheable) return "no-store";
  return `max-age=${Math.min(...believed.map(({ ttlSeconds }) => ttlSeconds))}`;
}

function messageResponse(bytes: Uint8Array): Response {
  const headers = {
    "content-type": MESSAGE_TYPE,
    "cache-control": cacheControl(decodeMessage(bytes)),
  };
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
}

function jsonResponse(bytes: Uint8Array): Response {
  const message = decodeMessage(bytes);
  const headers = { "content-type": JSON_TYPE, "cache-control": cacheControl(message) };
  return new Response(JSON.stringify(describeMessage(message)), { headers });
}
