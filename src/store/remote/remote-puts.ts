/** Stores objects on an S3 service by guarded PUTs. */
import { hexToBase64 } from "../../http/headers.ts";
import { checkContent } from "../core/checked-content.ts";
import { inlineBytesMax, uploadBytesMax } from "../core/limits.ts";
import { conditionHolds } from "../core/conditional.ts";
import { validateMetadata } from "../core/http-metadata.ts";
import type { NewObject } from "../core/object-encoding.ts";
import type { Content, EncodedObject, Request } from "../core/operations.ts";
import {
  guardedWrite,
  guardHeaders,
  guardOfCondition,
  type Guard,
  type WriteAnswer,
} from "./guarded-write.ts";
import { packHeaders } from "./packed-header.ts";
import type { RemoteFeatures } from "./remote-features.ts";
import { encodeObject, etagOf } from "./remote-object.ts";
import type { RemoteReads } from "./remote-reads.ts";
import type { S3Connection, S3Request } from "./s3-connection.ts";
import { readText, refuseAnswer } from "./service-answer.ts";
import { serviceKey } from "./service-key.ts";
import type { Spool } from "./spool.ts";

/** The clock and the randomness that new objects get. */
export interface RemotePlatform {
  /** Milliseconds since the epoch */
  readonly now: () => number;
  /** Random bytes in hexadecimal. */
  readonly randomHex: (bytes: number) => string;
}

export class RemotePuts {
  readonly #connection: S3Connection;
  readonly #prefix: string;
  readonly #features: RemoteFeatures;
  readonly #spool: Spool;
  readonly #reads: RemoteReads;
  readonly #platform: RemotePlatform;

  constructor(options: {
    readonly connection: S3Connection;
    readonly prefix: string;
    readonly features: RemoteFeatures;
    readonly spool: Spool;
    readonly reads: RemoteReads;
    readonly platform: RemotePlatform;
  }) {
    this.#connection = options.connection;
    this.#prefix = options.prefix;
    this.#features = options.features;
    this.#spool = options.spool;
    this.#reads = options.reads;
    this.#platform = options.platform;
  }

  /** `null` when the condition does not hold. */
  async put(request: Omit<Request<"put">, "method">): Promise<EncodedObject | null> {
    const { key, content, onlyIf, checksum, http, custom, storageClass, ssecKeyMd5 } = request;
    const named = serviceKey(this.#prefix, key);
    validateMetadata(http, custom);
    const { size, checksums } = checkContent(content, checksum, uploadBytesMax);
    const md5 = checksums.md5 as string;
    const object: NewObject = {
      key,
      version: this.#platform.randomHex(16),
      uploaded: this.#platform.now(),
      size,
      etag: md5,
      checksums,
      storageClass,
      http,
      custom,
      ...(ssecKeyMd5 !== undefined && { ssecKeyMd5 }),
    };
    const headers = { "content-md5": hexToBase64(md5), ...packHeaders(object) };
    const body = requestBody(content, this.#spool);
    const etag = await guardedWrite({
      effect: "stored",
      // A large value would be sent in vain if the condition does not hold.
      presumed: size <= inlineBytesMax ? guardOfCondition(onlyIf, this.#features) : null,
      holds: (seen) => onlyIf === undefined || conditionHolds(onlyIf, seen),
      head: () => this.#reads.head(key),
      write: (guard) => this.#send({ key: named, headers, body }, guard, `store "${key}"`),
      resultIn: (seen) => (seen?.version === object.version ? seen.etag : null),
    });
    return etag === null ? null : encodeObject({ ...object, etag: etag || md5 });
  }

  /** @param action for the sentence of a refusal: people know the key without the prefix */
  async #send(
    request: Omit<S3Request, "method">,
    guard: Guard,
    action: string,
  ): Promise<WriteAnswer<string>> {
    const guarding = guardHeaders(guard, this.#features);
    const answer = await this.#connection.send({
      method: "PUT",
      ...request,
      headers: { ...request.headers, ...guarding },
    });
    const { status } = answer;
    if (status === 200 || status === 201 || status === 204) {
      await readText(answer);
      return { written: etagOf(answer.headers) };
    }
    // Some services answer 404 when there is no object that could match.
    const isGuarded =
      status === 409 || status === 412 || (status === 404 && "if-match" in guarding);
    if (!isGuarded) return refuseAnswer(answer, action);
    await readText(answer);
    return "guarded";
  }
}

/** The body of a request. Each attempt opens content of the spool again. */
export function requestBody(content: Content, spool: Spool): NonNullable<S3Request["body"]> {
  if ("bytes" in content) return content.bytes;
  const { blob, size } = content;
  return async () => ({ stream: await spool.open(blob, size), length: size });
}
