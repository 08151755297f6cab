/**
 * Where a part of an object lies that was uploaded in parts.
 *
 * A HEAD with a part number answers with `Content-Range` on most services. Ceph answers with the length and
 * the entity tag of the part alone: there the part begins after the parts before it, whose lengths are read
 * as well. Content is then read as a range of the whole object, so each answer describes the object.
 */
import type { ByteRange } from "../core/byte-range.ts";
import { StoreError } from "../core/errors.ts";
import { GenerationalCache } from "../core/generational-cache.ts";
import type { NewObject } from "../core/object.ts";
import { RemoteError } from "./remote-error.ts";
import { etagOf, partsCountOf } from "./remote-object.ts";
import { parseContentRange } from "./requested-range.ts";
import type { S3Connection } from "./s3-connection.ts";
import { contentLengthOf, readText, refuseAnswer } from "./service-answer.ts";
import { serviceKey } from "./service-key.ts";

/** HEADs that run at the same time. */
const headsMax = 32;
/** Characters of names in a generation of the cache: about 20,000 parts. */
const cachedCharactersMax = 2 * 1024 * 1024;

/** An object that a HEAD has described. */
type Described = Pick<NewObject, "key" | "etag" | "size">;

/** Without `offset`, the service says only how long the part is; a part that does not exist is `null`. */
type PartAnswer = { readonly offset?: number; readonly length: number } | null;

export class RemoteParts {
  readonly #connection: S3Connection;
  readonly #prefix: string;
  /** A client that reads all parts asks for the parts before each again. */
  readonly #lengths = new GenerationalCache<number>(cachedCharactersMax, (name) => name.length);

  constructor(connection: S3Connection, prefix: string) {
    this.#connection = connection;
    this.#prefix = prefix;
  }

  /**
   * @returns `null` when the object was replaced or deleted
   * @throws StoreError 200001 for a part that does not exist, RemoteError
   */
  async range(object: Described, partNumber: number): Promise<ByteRange | null> {
    const count = partsCountOf(object.etag) ?? 1;
    if (count === 1 && partNumber === 1) return { offset: 0, length: object.size };
    if (partsCountOf(object.etag) === null) throw new StoreError(200001);
    const part = await this.#part(object, partNumber);
    if (part === "replaced") return null;
    if (part === null) throw new StoreError(200001);
    const { length } = part;
    if (part.offset !== undefined) return { offset: part.offset, length };
    let offset = 0;
    for (let first = 1; first < partNumber; first += headsMax) {
      const numbers = Array.from(
        { length: Math.min(headsMax, partNumber - first) },
        (_, index) => first + index,
      );
      const lengths = await Promise.all(numbers.map((number) => this.#length(object, number)));
      for (const each of lengths) {
        if (each === "replaced") return null;
        offset += each;
      }
    }
    if (offset + length > object.size) throw cannotReadParts();
    return { offset, length };
  }

  /** 0 for a number that the uploader left out. */
  async #length(object: Described, partNumber: number): Promise<number | "replaced"> {
    const name = `${object.etag} ${partNumber} ${object.key}`;
    const known = this.#lengths.get(name);
    if (known !== undefined) return known;
    const part = await this.#part(object, partNumber);
    if (part === "replaced") return "replaced";
    const length = part?.length ?? 0;
    this.#lengths.set(name, length);
    return length;
  }

  async #part(
    { key, etag, size }: Described,
    partNumber: number,
  ): Promise<PartAnswer | "replaced"> {
    const answer = await this.#connection.send({
      method: "HEAD",
      key: serviceKey(this.#prefix, key),
      query: [["partNumber", String(partNumber)]],
      headers: { "if-match": `"${etag}"` },
    });
    const { status, headers } = answer;
    if (![200, 206, 400, 404, 409, 412, 416].includes(status)) {
      return refuseAnswer(answer, `read part ${partNumber} of "${key}"`);
    }
    await readText(answer);
    // Ceph refuses a part that does not exist with 400.
    if (status === 400 || status === 416) return null;
    if (status !== 200 && status !== 206) return "replaced";
    const range = parseContentRange(headers.get("content-range"));
    if (range !== null) return { offset: range.offset, length: range.length };
    const length = contentLengthOf(answer);
    // The whole object: the service ignores the number.
    if (length === size && etagOf(headers) === etag) throw cannotReadParts();
    return { length };
  }
}

function cannotReadParts(): RemoteError {
  return new RemoteError("refused", "The S3 service cannot read one part of an object.");
}
