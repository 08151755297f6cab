/**
 * One question to one server: by UDP, by TCP when the answer is truncated (RFC 7766), by TLS, or by HTTPS.
 * A person gives the question as words: a name or an address, and a type.
 */
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { connect, isIP, isIPv6 } from "node:net";
import { connect as connectTls } from "node:tls";
import { nearest } from "../../base/nearest.ts";
import { UserError } from "../../base/user-error.ts";
import type { ServerAddress } from "../config/dns-table.ts";
import { parseIpv4, parseIpv6 } from "../record/ip-address.ts";
import { typeCode, typeName } from "../record/presentation.ts";
import { toAsciiName } from "../record/record-name.ts";
import { recordTypes } from "../record/types.ts";
import { WireError } from "../wire/bytes.ts";
import {
  blankMessage,
  decodeMessage,
  encodeMessage,
  frame,
  Frames,
  type Message,
} from "../wire/message.ts";
import { encodeName } from "../wire/name.ts";
import { classCodes, typeCodes } from "../wire/numbers.ts";

export interface AskedQuestion {
  readonly name: string;
  readonly type: number;
}

/** Transports that carry messages one after the other. */
export type Stream = "tcp" | "tls";

export interface DnsReply {
  readonly message: Message;
  readonly transport: "udp" | Stream | "https";
  readonly octets: number;
}

/** Passes through common networks without fragmentation (DNS flag day 2020). */
const udpPayloadBytesMax = 1232;
const udpTries = 3;
const udpMilliseconds = 2_000;
const tcpMilliseconds = 10_000;
export const httpsMilliseconds = 10_000;

const edns = {
  udpBytesMax: udpPayloadBytesMax,
  version: 0,
  dnssecOk: false,
  compactOk: false,
  options: [],
};

export interface AskOptions {
  /** In place of UDP. */
  readonly stream?: Stream;
  /** Sets DO: a signed zone answers with its signatures. */
  readonly dnssec?: boolean;
  /** Of requests by HTTPS. */
  readonly headers?: Readonly<Record<string, string>>;
}

function encodeAsked(question: AskedQuestion, { dnssec = false }: AskOptions): Uint8Array {
  return encodeQuery(question, { recursionDesired: true, edns: { ...edns, dnssecOk: dnssec } });
}

/** @throws WireError when the name is not a domain name */
export function encodeQuery(
  { name, type }: AskedQuestion,
  fields: Partial<Message> = { recursionDesired: true, edns },
): Uint8Array {
  const questions = [{ name, type, class: classCodes.IN }];
  const query = { ...blankMessage, id: randomInt(65_536), questions, ...fields };
  return encodeMessage(query);
}

export async function askServer(
  question: AskedQuestion,
  server: ServerAddress,
  options: AskOptions = {},
): Promise<DnsReply> {
  const query = encodeAsked(question, options);
  const { stream } = options;
  const reply = stream === undefined ? await askUdp(query, server) : null;
  return reply === null || reply.message.truncated ? askStream(query, server, stream) : reply;
}

/** @param url of the record API, whose server answers DNS over HTTPS (RFC 8484) too */
export async function askHttps(
  question: AskedQuestion,
  url: string,
  options: AskOptions = {},
): Promise<DnsReply> {
  const query = encodeAsked(question, options);
  try {
    const response = await fetch(new URL("/dns-query", url), {
      method: "POST",
      headers: { ...options.headers, "content-type": "application/dns-message" },
      body: query as Uint8Array<ArrayBuffer>,
      signal: AbortSignal.timeout(httpsMilliseconds),
    });
    if (!response.ok) throw new UserError(`${url} answers with HTTP ${response.status}.`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { message: decodeMessage(bytes), transport: "https", octets: bytes.length };
  } catch (error) {
    if (error instanceof WireError)
      throw new UserError(`${url} does not answer with a DNS message.`);
    if (error instanceof DOMException && error.name === "TimeoutError") {
      throw new UserError(`No answer from ${url} within ${httpsMilliseconds / 1000} seconds.`);
    }
    if (error instanceof UserError || !(error instanceof TypeError)) throw error;
    throw new UserError(`Cannot reach ${url}.`, { cause: error });
  }
}

async function askUdp(query: Uint8Array, server: ServerAddress): Promise<DnsReply> {
  const { host, port } = server;
  const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
  const { promise, resolve, reject } = Promise.withResolvers<DnsReply>();
  let tries = 0;
  const send = (): void => {
    tries += 1;
    if (tries > udpTries) reject(noAnswerError(server, "no answer arrived"));
    else socket.send(query, (error) => error && reject(noAnswerError(server, error.message)));
  };
  const timer = setInterval(send, udpMilliseconds);
  socket.on("error", (error: NodeJS.ErrnoException) => {
    reject(noAnswerError(server, error.code ?? error.message));
  });
  socket.on("message", (bytes) => {
    const message = decodeAnswer(query, bytes);
    if (message !== null) resolve({ message, transport: "udp", octets: bytes.length });
  });
  // Only a connected socket receives ICMP refusals as errors.
  socket.connect(port, host, send);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
    socket.close();
  }
}

async function askStream(
  query: Uint8Array,
  server: ServerAddress,
  transport: Stream = "tcp",
): Promise<DnsReply> {
  try {
    const idle = { milliseconds: tcpMilliseconds, error: new Error("no answer arrived") };
    for await (const bytes of exchangeMessages(query, server, transport, idle)) {
      const message = decodeAnswer(query, bytes);
      if (message !== null) return { message, transport, octets: bytes.length };
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw noAnswerError(server, code ?? message);
  }
  throw noAnswerError(server, "the server closed the connection");
}

/**
 * Sends a message and yields the messages that arrive, until the server closes the connection.
 *
 * @param idle the longest time without data, and the error after it
 */
export async function* exchangeMessages(
  message: Uint8Array,
  server: ServerAddress,
  transport: Stream,
  idle: { readonly milliseconds: number; readonly error: Error },
): AsyncGenerator<Uint8Array, void> {
  // As of dig and kdig, TLS is for privacy: an address has no name to compare the certificate with.
  const socket =
    transport === "tcp"
      ? connect(server)
      : connectTls({ ...server, ALPNProtocols: ["dot"], rejectUnauthorized: false });
  socket.setTimeout(idle.milliseconds, () => socket.destroy(idle.error));
  const frames = new Frames();
  try {
    socket.write(frame(message));
    for await (const piece of socket) yield* frames.push(piece as Uint8Array);
  } finally {
    socket.destroy();
  }
}

/** `null` when the packet does not answer the query: any host may send to the port. */
function decodeAnswer(query: Uint8Array, bytes: Uint8Array): Message | null {
  if (bytes[0] !== query[0] || bytes[1] !== query[1]) return null;
  try {
    const message = decodeMessage(bytes);
    return message.response ? message : null;
  } catch (error) {
    if (error instanceof WireError) return null;
    throw error;
  }
}

function noAnswerError({ host, port }: ServerAddress, reason: string): UserError {
  return new UserError(
    `No answer from ${host}, port ${port}: ${reason}. Is a name server running there?`,
  );
}

export class QuestionError extends UserError {}

/**
 * @param nameWord a full name, or an IP address for a reverse lookup
 * @param typeWord a type, or TYPE followed by its number; by default A, or PTR for an address
 * @throws QuestionError
 */
export function parseQuestion(nameWord: string, typeWord: string | undefined): AskedQuestion {
  const isAddress = isIP(nameWord) !== 0 && typeWord === undefined;
  const name = isAddress ? reverseName(nameWord) : toAsciiName(nameWord).replace(/(?!^)\.$/, "");
  const type = isAddress ? typeCodes.PTR : parseQueryType(typeWord ?? "A");
  try {
    encodeName(name);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new QuestionError(`"${nameWord}" is not a domain name: ${error.message}.`);
  }
  return { name, type };
}

function parseQueryType(word: string): number {
  const code = otherTypeCodes[word.toUpperCase()] ?? typeCode(word);
  if (code !== null && code > 0) return code;
  const guess = nearest(word.toUpperCase(), [
    ...recordTypes.keys(),
    ...Object.keys(otherTypeCodes),
    "ANY",
  ]);
  throw new QuestionError(
    `There is no record type "${word}". ` +
      (guess === null ? "TYPE followed by a number names any type." : `Did you mean ${guess}?`),
  );
}

/** RFC 1035 section 3.5 and RFC 3596 section 2.5. */
function reverseName(address: string): string {
  const ipv4 = parseIpv4(address);
  if (ipv4 !== null) return `${[...ipv4].toReversed().join(".")}.in-addr.arpa`;
  const digits = Buffer.from(parseIpv6(address) ?? []).toString("hex");
  return `${Array.from(digits).toReversed().join(".")}.ip6.arpa`;
}

/** Types that occur in zones, of which the record API has few, from IANA's registry of DNS parameters. */
const otherTypeCodes: Readonly<Record<string, number>> = {
  RP: 17,
  AFSDB: 18,
  KX: 36,
  DNAME: 39,
  NSEC3: 50,
  NSEC3PARAM: 51,
  CSYNC: 62,
  ZONEMD: 63,
  SPF: 99,
  EUI48: 108,
  EUI64: 109,
};
const otherTypes = new Map(Object.entries(otherTypeCodes).map(([name, code]) => [code, name]));

export function nameOfType(code: number): string {
  return otherTypes.get(code) ?? typeName(code);
}
