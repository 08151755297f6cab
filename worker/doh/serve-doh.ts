/**
 * DNS over HTTPS (RFC 8484): messages by GET and POST, and the JSON API of the deployed service.
 * Queries need no credentials. Every DNS response has HTTP status 200, NXDOMAIN included; another
 * status means that the request holds no query.
 */
import { answer, explainRule, subjectOf, type AnswerContext } from "../../src/dns/answer/answer.ts";
import {
  ExternalAddressCache,
  respondAfterResolving,
} from "../../src/dns/answer/external-addresses.ts";
import { Query, type QuerySource } from "../../src/dns/answer/query.ts";
import { Responder } from "../../src/dns/answer/responder.ts";
import type { ServedZones } from "../../src/dns/answer/served-zones.ts";
import { AnswerSigner, type SignaturesNeeded } from "../../src/dns/dnssec/answer-signer.ts";
import type { SigningKey } from "../../src/dns/dnssec/zone-signing.ts";
import { formatData, typeCode } from "../../src/dns/record/presentation.ts";
import { ZoneError } from "../../src/dns/record/problem.ts";
import { toQuestionName } from "../../src/dns/record/record-name.ts";
import { decodeBase64, WireError } from "../../src/dns/wire/bytes.ts";
import {
  blankMessage,
  decodeMessage,
  encodeMessage,
  type Message,
} from "../../src/dns/wire/message.ts";
import { textKey } from "../../src/dns/wire/name.ts";
import { classCodes, isMetaType, rcodes, typeCodes } from "../../src/dns/wire/numbers.ts";
import type { ResourceRecord } from "../../src/dns/wire/resource-record.ts";
import { isContentType, readBytes } from "../api/api-call.ts";
import { clientOf } from "../api/call-log.ts";
import type { Env } from "../objects/object-call.ts";
import { loadZones, observedQueries } from "../objects/query-observation.ts";
import { zoneTestSession } from "../objects/zone-test-session.ts";
import { isolateQueries, resolveByListeners } from "../replication/replicas.ts";

export const dohPath = "/dns-query";
/** Queries of the scripts that tests run (`src/testing/zone-resolver.ts`). */
export const ownNamesPath = "/ledge/dns-query";

/** Only transfers need the address. */
const anySource: QuerySource = { transport: "https", address: new Uint8Array(4) };

const external = new ExternalAddressCache();
const signer = new AnswerSigner();

const nowSeconds = () => zoneTestSession.nowSeconds();

export async function serveDoh(request: Request, url: URL, env: Env): Promise<Response> {
  const client = clientOf(request.headers);
  const source = client === null ? anySource : { ...anySource, client };
  try {
    const isJson = isJsonWanted(request, url);
    const query = isJson ? readJsonQuery(url.searchParams) : await readMessageQuery(request, url);
    if (url.pathname === ownNamesPath && !isOwnName(query, await loadZones(env))) {
      return new Response("No zone of this server has the name.\n", { status: 421 });
    }
    if (isJson) return await serveJson(query, url.searchParams, env, source);
    const bytes = await answerQuery(query, env, source);
    return respond(bytes as Uint8Array<ArrayBuffer>, messageType, readResponse(bytes));
  } catch (error) {
    if (error instanceof ZoneError) return new Response(null, { status: 400 });
    if (!(error instanceof DohError)) throw error;
    return new Response(`${error.message}\n`, { status: error.status, headers: error.headers });
  }
}

/** `explain` is an addition of this server: it adds the rules that made the answer. */
async function serveJson(
  query: Uint8Array,
  parameters: URLSearchParams,
  env: Env,
  source: QuerySource,
): Promise<Response> {
  const message = readResponse(await answerQuery(query, env, source));
  if (message === null) return respond(malformedJson, jsonType, null);
  const json = describeMessage(message);
  if (readFlag(parameters.get("explain"))) {
    json["Reasons"] = explainAnswer(query, await loadZones(env));
  }
  return respond(JSON.stringify(json), jsonType, message);
}

/** As octets that cannot be parsed are a fault of messages, text that cannot be parsed is one of JSON. */
const malformedJson = '{"Status":';

/** `null` for the octets of a fault. */
function readResponse(bytes: Uint8Array): Message | null {
  try {
    return decodeMessage(bytes);
  } catch (error) {
    if (error instanceof WireError) return null;
    throw error;
  }
}

/** As the deployed service does, accepts the type in `ct` too. `name` implies JSON. */
function isJsonWanted({ method, headers }: Request, { searchParams }: URL): boolean {
  if ((method !== "GET" && method !== "HEAD") || searchParams.has("dns")) return false;
  const accepted = `${headers.get("accept") ?? ""} ${searchParams.get("ct") ?? ""}`;
  return accepted.includes(jsonType) || searchParams.has("name");
}

function isOwnName(query: Uint8Array, zones: ServedZones): boolean {
  try {
    const [question] = decodeMessage(query).questions;
    return (
      question !== undefined && zones.findFor(textKey(question.name), question.type) !== undefined
    );
  } catch (error) {
    if (error instanceof WireError) return false;
    throw error;
  }
}

async function answerQuery(query: Uint8Array, env: Env, source: QuerySource): Promise<Uint8Array> {
  const zones = await loadZones(env);
  isolateQueries.count = () => responderFor(zones).countQueries();
  const answerFrom = (past: ServedZones) => answerWith(responderFor(past), query, env);
  const ways = { answer: () => answerFrom(zones), answerFrom };
  const reply = await observedQueries.handle(query, source, ways);
  if (reply instanceof Uint8Array) return reply;
  // HTTP has an answer for every request: this one says that there is none.
  throw new DohError(503, "A fault of this test server has dropped the query.");
}

async function answerWith(ready: Responder, query: Uint8Array, env: Env): Promise<Uint8Array> {
  const attempt = () => ready.respond(query, anySource, nowSeconds());
  const resolution = { external, resolve: resolveByListeners(env), nowSeconds, sign };
  const response = await respondAfterResolving(attempt(), attempt, resolution);
  if (response instanceof Uint8Array) return response;
  throw new DohError(400, "The request holds no DNS query.");
}

/** A responder for the zones of a fault ends with these zones. */
const responders = new WeakMap<ServedZones, Responder>();

function responderFor(zones: ServedZones): Responder {
  const made =
    responders.get(zones) ?? new Responder({ zones, external, signer, onError: console.error });
  responders.set(zones, made);
  return made;
}

/** Caches keep an answer for its smallest TTL (RFC 8484 section 5.1). */
function cacheControl(message: Message | null): string {
  if (message === null) return "no-store";
  const { rcode, answers, authorities } = message;
  const counted = answers.length > 0 ? answers : authorities;
  const isCacheable = rcode === rcodes.NOERROR || rcode === rcodes.NXDOMAIN;
  if (!isCacheable || counted.length === 0) return "no-store";
  return `max-age=${Math.min(...counted.map(({ ttlSeconds }) => ttlSeconds))}`;
}

function respond(body: BodyInit, type: string, message: Message | null): Response {
  const headers = { "content-type": type, "cache-control": cacheControl(message) };
  return new Response(body, { headers });
}

/**
 * The rules that `answer()` applied to a query that has just been answered, as names and as
 * sentences: the caches have its external names and its signatures. Zone transfers and other meta
 * types have no reasons, because no rule answers them.
 */
function explainAnswer(
  bytes: Uint8Array,
  zones: ServedZones,
): Record<"rule" | "name" | "text", string>[] {
  const context: AnswerContext = { zones, external, nowSeconds: nowSeconds() };
  const query = new Query();
  query.read(bytes);
  if (isMetaType(query.type) && query.type !== typeCodes.ANY) return [];
  const signing = query.dnssecOk ? { signer, compactOk: query.compactOk } : undefined;
  const made = answer(query, { ...context, signing });
  if ("kind" in made) return [];
  return made.rules.map((rule) => ({
    rule: rule.rule,
    name: subjectOf(rule),
    text: explainRule(rule),
  }));
}

/**
 * A DNS message in the JSON format of the deployed service: numbers for types and status, names
 * without the final dot, data in presentation format.
 */
function describeMessage(message: Message): Record<string, unknown> {
  const { answers, authorities, questions } = message;
  return {
    Status: message.rcode,
    TC: message.truncated,
    RD: message.recursionDesired,
    RA: message.recursionAvailable,
    AD: message.authenticData,
    CD: message.checkingDisabled,
    Question: questions.map(({ name, type }) => ({ name, type })),
    ...(answers.length > 0 && { Answer: answers.map(describeRecord) }),
    ...(authorities.length > 0 && { Authority: authorities.map(describeRecord) }),
  };
}

function describeRecord({ name, type, ttlSeconds, data }: ResourceRecord) {
  return { name, type, TTL: ttlSeconds, data: formatData(type, data) };
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const imported = new WeakMap<SigningKey, CryptoKey>();

async function importKey(signingKey: SigningKey): Promise<CryptoKey> {
  const known = imported.get(signingKey);
  if (known !== undefined) return known;
  const { privateKey } = signingKey;
  const key = await crypto.subtle.importKey("jwk", { ...privateKey }, algorithm, false, ["sign"]);
  imported.set(signingKey, key);
  return key;
}

/** Makes the signatures that an answer needs with WebCrypto, and gives them to the signer. */
async function sign({ requests }: SignaturesNeeded): Promise<void> {
  await Promise.all(
    requests.map(async (request) => {
      const key = await importKey(request.key);
      const octets = request.octets as Uint8Array<ArrayBuffer>;
      const signature = await crypto.subtle.sign(algorithm, key, octets);
      signer.put(request, new Uint8Array(signature));
    }),
  );
}

const messageType = "application/dns-message";
const jsonType = "application/dns-json";

/** The largest length that the length field of TCP can express (RFC 1035 section 4.2.2). */
const messageBytesMax = 65_535;

class DohError extends Error {
  override name = "DohError";
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

async function readMessageQuery(request: Request, url: URL): Promise<Uint8Array> {
  if (request.method === "GET" || request.method === "HEAD") return readParameter(url);
  if (request.method !== "POST") {
    throw new DohError(405, "Use GET or POST.", { allow: "GET, HEAD, POST" });
  }
  if (!isContentType(request, messageType)) {
    throw new DohError(415, `The content must be ${messageType}.`);
  }
  const bytes = await readBytes(request, messageBytesMax);
  if (bytes === null) throw tooLarge();
  return bytes;
}

function readParameter({ searchParams }: URL): Uint8Array {
  const text = searchParams.get("dns");
  if (text === null)
    throw new DohError(400, "The parameter dns is missing: a message in base64url.");
  if (text.length > (messageBytesMax * 4) / 3 + 4) throw tooLarge();
  // RFC 8484 section 6 forbids padding; some clients send it.
  const digits = text.replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/");
  const padded = digits.padEnd(Math.ceil(digits.length / 4) * 4, "=");
  const bytes = decodeBase64(padded);
  if (bytes === null) throw new DohError(400, "The parameter dns is not base64url.");
  return bytes;
}

function tooLarge(): DohError {
  return new DohError(413, `A DNS message has at most ${messageBytesMax} octets.`);
}

/** `name` (with IDNA), `type` (a mnemonic or a number, A by default), and the flags `do` and `cd`. */
function readJsonQuery(parameters: URLSearchParams): Uint8Array {
  const name = parameters.get("name");
  if (name === null || name === "") throw new DohError(400, "The parameter name is missing.");
  const type = readType(parameters.get("type") ?? "A");
  try {
    return encodeMessage({
      ...blankMessage,
      recursionDesired: true,
      checkingDisabled: readFlag(parameters.get("cd")),
      questions: [{ name: toQuestionName(name), type, class: classCodes.IN }],
      edns: {
        udpBytesMax: messageBytesMax,
        version: 0,
        dnssecOk: readFlag(parameters.get("do")),
        compactOk: false,
        options: [],
      },
    });
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new DohError(400, `The parameter name is not a domain name: ${error.message}.`);
  }
}

function readFlag(text: string | null): boolean {
  return text !== null && (text === "" || text === "1" || text.toLowerCase() === "true");
}

function readType(text: string): number {
  const code = /^\d{1,5}$/.test(text) ? Number(text) : (typeCode(text) ?? 0);
  if (code > 0 && code < 65_536) return code;
  throw new DohError(400, `The parameter type is unknown: "${text}".`);
}
