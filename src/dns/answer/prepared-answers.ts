/**
 * Answers that are ready to be sent, but for the identifier, the case of the question and OPT. They
 * hold until the zones change. Only names that exist are kept, so that whoever asks for others
 * cannot push them out; the limits are for the types, of which there are many.
 */
import { headerBytes } from "../wire/message-writer.ts";
import { lowerCase } from "../wire/name-key.ts";
import type { Answer } from "./answer.ts";
import type { Query } from "./query.ts";

const answersMax = 50_000;
const bytesMax = 64 * 1024 * 1024;

export interface PreparedAnswer {
  readonly answer: Answer;
  /** The whole message without OPT; the question stands in it in some case. */
  readonly message: Uint8Array;
  readonly type: number;
  readonly next: PreparedAnswer | undefined;
}

function isAbout({ message, type }: PreparedAnswer, query: Query): boolean {
  if (type !== query.type) return false;
  const { bytes, end } = query;
  for (let at = headerBytes; at < end; at++) {
    if (lowerCase[message[at]!] !== lowerCase[bytes[at]!]) return false;
  }
  return true;
}

export class PreparedAnswers {
  readonly #byHash = new Map<number, PreparedAnswer>();
  #revision = 0;
  #count = 0;
  #bytes = 0;

  get(query: Query, revision: number): PreparedAnswer | undefined {
    if (revision !== this.#revision) {
      this.#clear();
      this.#revision = revision;
      return undefined;
    }
    let entry = this.#byHash.get(query.hash);
    while (entry !== undefined && !isAbout(entry, query)) entry = entry.next;
    return entry;
  }

  put(query: Query, answer: Answer, message: Uint8Array): void {
    if (this.#count >= answersMax || this.#bytes + message.length > bytesMax) this.#clear();
    const next = this.#byHash.get(query.hash);
    this.#byHash.set(query.hash, { answer, message, type: query.type, next });
    this.#count += 1;
    this.#bytes += message.length;
  }

  #clear(): void {
    this.#byHash.clear();
    this.#count = 0;
    this.#bytes = 0;
  }
}
