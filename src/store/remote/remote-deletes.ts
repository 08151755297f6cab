/**
 * Deletes objects of an S3 service: each by a DELETE that is guarded by what a HEAD has seen, where the
 * service honours that. A delete of several keys is one request without guards.
 */
import { hexToBase64 } from "../../http/headers.ts";
import { childrenOf, childText, writeXml } from "../../http/xml.ts";
import { conditionHolds, type Conditional } from "../core/conditional.ts";
import { StoreError } from "../core/errors.ts";
import { deleteKeysMax } from "../core/limits.ts";
import { md5 } from "../core/md5.ts";
import type { Request } from "../core/operations.ts";
import {
  guardedWrite,
  requiredGuardHeaders,
  type Guard,
  type WriteAnswer,
} from "./guarded-write.ts";
import { RemoteError } from "./remote-error.ts";
import type { RemoteFeatures } from "./remote-features.ts";
import type { RemoteReads } from "./remote-reads.ts";
import type { S3Connection, S3Request } from "./s3-connection.ts";
import { readDocument, readText, refuseAnswer } from "./service-answer.ts";
import { serviceKey } from "./service-key.ts";

/** Requests that run at the same time. */
const deletesMax = 32;

export class RemoteDeletes {
  readonly #connection: S3Connection;
  readonly #prefix: string;
  readonly #features: RemoteFeatures;
  readonly #reads: RemoteReads;

  constructor(options: {
    readonly connection: S3Connection;
    readonly prefix: string;
    readonly features: RemoteFeatures;
    readonly reads: RemoteReads;
  }) {
    this.#connection = options.connection;
    this.#prefix = options.prefix;
    this.#features = options.features;
    this.#reads = options.reads;
  }

  async delete({ keys, onlyIf }: Omit<Request<"delete">, "method">): Promise<null> {
    if (keys.length < 1 || keys.length > deleteKeysMax) throw new StoreError(10027);
    const named = new Map(keys.map((key) => [key, serviceKey(this.#prefix, key)]));
    const [first = ""] = keys;
    if (named.size === 1) return this.#deleteOne(first, onlyIf);
    const others = [...named.keys()].filter((key) => !isXmlText.test(named.get(key) as string));
    for (let start = 0; start < others.length; start += deletesMax) {
      await Promise.all(others.slice(start, start + deletesMax).map((key) => this.#deleteOne(key)));
    }
    await this.#deleteMany([...named.values()].filter((key) => isXmlText.test(key)));
    return null;
  }

  /** @throws StoreError 10031 for an object for which the condition does not hold */
  async #deleteOne(key: string, condition?: Conditional): Promise<null> {
    const named = serviceKey(this.#prefix, key);
    if (!this.#features.conditionalDelete) {
      if (condition !== undefined) throw unsupportedCondition();
      // A repetition has the same effect.
      await this.#send({ key: named, isRepeatable: true }, key);
      return null;
    }
    const isDeleted = await guardedWrite({
      effect: "deleted",
      holds: (seen) => condition === undefined || conditionHolds(condition, seen),
      head: () => this.#reads.head(key),
      write: (guard) => this.#send({ key: named }, key, guard),
      resultIn: (seen) => seen === null || null,
    });
    if (isDeleted === null) throw new StoreError(10031);
    return null;
  }

  /** @param key for the sentence of a refusal: people know the key without the prefix */
  async #send(
    request: Pick<S3Request, "key" | "isRepeatable">,
    key: string,
    guard: Guard = null,
  ): Promise<WriteAnswer<true>> {
    const headers = requiredGuardHeaders(guard, this.#features);
    const answer = await this.#connection.send({ method: "DELETE", ...request, headers });
    const { status } = answer;
    const isDeleted = status === 200 || status === 204 || status === 404;
    if (!isDeleted && status !== 409 && status !== 412) {
      return refuseAnswer(answer, `delete "${key}"`);
    }
    await readText(answer);
    return isDeleted ? { written: true } : "guarded";
  }

  async #deleteMany(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const document = writeXml("Delete", { Object: keys.map((key) => ({ Key: key })), Quiet: true });
    const body = new TextEncoder().encode(document);
    const answer = await this.#connection.send({
      method: "POST",
      query: [["delete", ""]],
      headers: { "content-type": "application/xml", "content-md5": hexToBase64(md5(body)) },
      body,
      isRepeatable: true,
    });
    if (answer.status !== 200) await refuseAnswer(answer, "delete objects");
    const errors = childrenOf(await readDocument(answer), "Error").filter(
      (each) => childText(each, "Code") !== "NoSuchKey",
    );
    const [error] = errors;
    if (error === undefined) return;
    const message = (childText(error, "Message") ?? "").replace(/\.$/, "");
    const key = (childText(error, "Key") ?? "").slice(this.#prefix.length);
    throw new RemoteError(
      "refused",
      `Cannot delete ${errors.length} of ${keys.length} objects. The first is "${key}", for which the ` +
        `S3 service answered with ${childText(error, "Code")}: ${message}.`,
    );
  }
}

function unsupportedCondition(): RemoteError {
  return new RemoteError(
    "refused",
    "Cannot delete with a condition: the S3 service ignores conditions of a delete. Delete without a " +
      "condition, or use a service that has conditional deletes.",
  );
}

/** The characters of XML 1.0 (section 2.2), without line ends, which parsers change. */
const isXmlText = /^[\t\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;
