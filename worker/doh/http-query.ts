/** Reads a DNS query from an HTTP request: a message (RFC 8484), or the parameters of the JSON API. */
import { decodeBase64, WireError } from "../../src/dns/wire/bytes.ts";
import { blankMessage, encodeMessage } from "../../src/dns/wire/message.ts";
import { classCodes, typeCodes } from "../../src/dns/wire/numbers.ts";
import { recordTypes } from "../../src/dns/record/types.ts";
import { isContentType, readBytes } from "../api/body.ts";

export const messageType = "application/dns-message";
export const jsonType = "application/dns-json";

/** The largest length that the length field of TCP can express (RFC 1035 section 4.2.2). */
const messageBytesMax = 65_535;

export class DohError extends Error {
  override name = "DohError";
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export async function readMessageQuery(request: Request, url: URL): Promise<Uint8Array> {
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

/** `name`, `type` (a mnemonic or a number, A by default), and the flags `do` and `cd`. */
export function readJsonQuery(parameters: URLSearchParams): Uint8Array {
  const name = parameters.get("name");
  if (name === null || name === "") throw new DohError(400, "The parameter name is missing.");
  const withoutDot = name.length > 1 ? name.replace(/\.$/, "") : name;
  const type = readType(parameters.get("type") ?? "A");
  try {
    return encodeMessage(
      {
        ...blankMessage,
        recursionDesired: true,
        checkingDisabled: readFlag(parameters.get("cd")),
        questions: [{ name: withoutDot, type, class: classCodes.IN }],
        edns: {
          udpBytesMax: messageBytesMax,
          version: 0,
          dnssecOk: readFlag(parameters.get("do")),
          compactOk: false,
          options: [],
        },
      },
      { bytesMax: messageBytesMax },
    );
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new DohError(400, `The parameter name is not a domain name: ${error.message}.`);
  }
}

export function readFlag(text: string | null): boolean {
  return text !== null && (text === "" || text === "1" || text.toLowerCase() === "true");
}

/** Types that no record of the API has. */
const { ANY, AXFR, IXFR, RRSIG, NSEC, CDS, CDNSKEY } = typeCodes;
const questionTypes: Readonly<Record<string, number>> = {
  ANY,
  AXFR,
  IXFR,
  RRSIG,
  NSEC,
  CDS,
  CDNSKEY,
};

function readType(text: string): number {
  const name = text.toUpperCase();
  const number = /^(?:TYPE)?(\d{1,5})$/.exec(name)?.[1];
  const code = Number(number ?? recordTypes.get(name)?.code ?? questionTypes[name] ?? 0);
  if (code > 0 && code < 65_536) return code;
  throw new DohError(400, `The parameter type is unknown: "${text}".`);
}
