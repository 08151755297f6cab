/**
 * Queries with a signature (TSIG, RFC 8945 section 5). What is inside is answered as if there were
 * none, and the answer is signed with the key of the query; a bad signature is told, and nothing
 * else is.
 */
import { blankMessage } from "../../wire/blank-message.ts";
import { decodeMessage, encodeMessage, type Message } from "../../wire/message.ts";
import { CLASS, RCODE, TYPE } from "../../wire/numbers.ts";
import {
  refuseSignature,
  signMessage,
  tsigBytes,
  verifyMessage,
  type Hmac,
  type TsigKey,
  type Verdict,
} from "../../wire/tsig-mac.ts";
import { WireError } from "../../wire/wire-error.ts";
import { Writer } from "../../wire/writer.ts";
import { writeTime } from "../../wire/tsig.ts";

const MESSAGE_BYTES_MAX = 65_535;
/** RFC 1035 section 4.2.1, for who does not say otherwise. */
const UDP_BYTES_DEFAULT = 512;
/** Type TSIG, class ANY: how the record's fields begin after its name. */
const TSIG_MARK = [TYPE.TSIG >>> 8, TYPE.TSIG & 0xff, CLASS.ANY >>> 8, CLASS.ANY & 0xff] as const;

export interface Signed {
  readonly key: TsigKey;
  readonly mac: Uint8Array;
}

export type OpenedQuery =
  | { readonly kind: "unsigned" }
  | { readonly kind: "refused"; readonly response: Uint8Array }
  | { readonly kind: "good"; readonly query: Uint8Array; readonly signed: Signed };

export class SignedQueries {
  readonly #keys: ReadonlyMap<string, TsigKey>;
  readonly #hmac: Hmac;

  constructor(keys: readonly TsigKey[], hmac: Hmac) {
    this.#keys = new Map(keys.map((key) => [key.name.toLowerCase(), key]));
    this.#hmac = hmac;
  }

  open(query: Uint8Array, nowSeconds: number): OpenedQuery {
    if (!mayBeSigned(query)) return { kind: "unsigned" };
    let verdict: Verdict;
    try {
      const findKey = (name: string) => this.#keys.get(name);
      verdict = verifyMessage(query, { findKey, hmac: this.#hmac, nowSeconds });
    } catch (error) {
      // Whoever answers what is not signed says what is wrong with the message.
      if (error instanceof WireError) return { kind: "unsigned" };
      throw error;
    }
    const { message } = verdict;
    if (verdict.kind === "unsigned" || message.response) return { kind: "unsigned" };
    if (verdict.kind === "bad") {
      return { kind: "refused", response: this.#refuse(verdict, nowSeconds) };
    }
    const bare = encodeMessage({ ...message, tsig: null }, { bytesMax: MESSAGE_BYTES_MAX });
    return { kind: "good", query: bare, signed: { key: verdict.key, mac: verdict.mac } };
  }

  /** @param bytesMax what the answer may have with its signature; answers are cut to it */
  sign(
    response: Uint8Array,
    { key, mac }: Signed,
    { nowSeconds, bytesMax }: { readonly nowSeconds: number; readonly bytesMax: number },
  ): Uint8Array {
    const room = bytesMax - tsigBytes(key);
    const fitting =
      response.length <= room
        ? response
        : encodeMessage(decodeMessage(response), { bytesMax: room });
    const options = { key, hmac: this.#hmac, nowSeconds, priorMac: mac };
    return signMessage(fitting, options).bytes;
  }

  /** RFC 8945 section 5.2: NOTAUTH; only a wrong clock is told with a signature. */
  #refuse(verdict: Extract<Verdict, { kind: "bad" }>, nowSeconds: number): Uint8Array {
    const { message, error, key } = verdict;
    const { id, opcode, questions, recursionDesired } = message;
    const response = encodeMessage(
      {
        ...blankMessage,
        id,
        opcode,
        questions,
        recursionDesired,
        response: true,
        rcode: RCODE.NOTAUTH,
      },
      { bytesMax: UDP_BYTES_DEFAULT },
    );
    const { tsig } = message;
    if (key === null || tsig === null) return refuseSignature(response, tsig!, error);
    const other = new Writer();
    writeTime(other, nowSeconds);
    return signMessage(response, {
      key,
      hmac: this.#hmac,
      // Section 5.2.3: the time of the query, so that its clock finds the answer good.
      nowSeconds: tsig.timeSignedSeconds,
      priorMac: tsig.mac,
      error,
      other: other.finish(),
    }).bytes;
  }
}

/** How much a query over UDP can be answered with. */
export function udpBytesMax({ edns }: Message, ours: number): number {
  return Math.min(ours, Math.max(UDP_BYTES_DEFAULT, edns?.udpBytesMax ?? 0));
}

/** Cheap, since most queries have no signature: TSIG would be the last record. */
function mayBeSigned(query: Uint8Array): boolean {
  if (query.length < 12 || (query[10] === 0 && query[11] === 0)) return false;
  const [first, second, third, fourth] = TSIG_MARK;
  for (let at = query.indexOf(first, 12); at >= 0; at = query.indexOf(first, at + 1)) {
    if (query[at + 1] === second && query[at + 2] === third && query[at + 3] === fourth) {
      return true;
    }
  }
  return false;
}
