/**
 * The HTTP server of the S3-compatible API.
 *
 * Node passes on request targets as they are, and lets the server answer `Expect: 100-continue`. The
 * answer is sent when a verb begins to read the body: a request that is refused does not upload.
 */
import { randomUUID, type KeyObject } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "../../base/node-http.ts";
import { ConnectionLostError } from "../../store/core/fault.ts";
import { answerRequest } from "../answer-request.ts";
import type { S3Buckets } from "../s3-bucket.ts";
import { errorResponse } from "../s3-error.ts";
import type { S3Request, S3Response } from "../s3-request.ts";
import type { Scope } from "../../http/signature.ts";
import { verifyPolicySignature } from "../signature/policy-signature.ts";
import { signingKey } from "../signature/verify-signature.ts";
import { continueOnce, readRequest, type RequestRules } from "./incoming-request.ts";
import { sendResponse } from "./send-response.ts";

/** 8 KiB of metadata in percent-encoding, and a presigned URL. */
const headerBytesMax = 64 * 1024;
/** A client that sends nothing for so long in the middle of a request is gone. */
const idleMilliseconds = 5 * 60_000;
/** AWS SDKs keep connections for less. A connection that the server closes first fails a request. */
const keepAliveMilliseconds = 65_000;

export interface S3ServerOptions extends Omit<RequestRules, "deriveKey" | "now"> {
  readonly buckets: S3Buckets;
  /** For tests: milliseconds since the epoch. */
  readonly now?: () => number;
  /** Called with errors that no client has caused. */
  readonly onError?: (error: unknown) => void;
}

export class S3Server {
  readonly #options: S3ServerOptions;
  readonly #rules: RequestRules;
  readonly #server: Server;
  #isClosed = false;

  constructor(options: S3ServerOptions) {
    this.#options = options;
    this.#rules = { ...options, now: options.now ?? Date.now, deriveKey: lastKey() };
    this.#server = createServer({
      maxHeaderSize: headerBytesMax,
      keepAliveTimeout: keepAliveMilliseconds,
      // A large upload takes longer than any limit. `idleMilliseconds` ends one that stands still.
      requestTimeout: 0,
      noDelay: true,
    });
    this.#server.timeout = idleMilliseconds;
    const handle = (message: IncomingMessage, response: ServerResponse): void => {
      void this.#handle(message, response, () => {});
    };
    this.#server.on("request", handle);
    // S3 ignores expectations other than 100-continue, which RFC 9110 section 10.1.1 allows. Without
    // this listener, Node answers 417.
    this.#server.on("checkExpectation", handle);
    this.#server.on("checkContinue", (message: IncomingMessage, response: ServerResponse) => {
      void this.#handle(message, response, continueOnce(response));
    });
  }

  /** @returns the port */
  async listen(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends connections at once; the content of an upload in flight is removed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #handle(
    message: IncomingMessage,
    response: ServerResponse,
    onBody: () => void,
  ): Promise<void> {
    // The client may go away at any time.
    message.on("error", () => {});
    response.on("error", () => {});
    let isBodyRead = false;
    const answered = this.#answer(message, () => {
      isBodyRead = true;
      onBody();
    });
    const answer = await answered.catch((error: unknown) => {
      if (!(error instanceof ConnectionLostError)) this.#report(error);
      response.destroy();
      return null;
    });
    if (answer === null) return;
    const expectsContinue = message.headers.expect !== undefined && !isBodyRead;
    try {
      await sendResponse(
        response,
        {
          ...answer,
          headers: {
            ...answer.headers,
            "x-amz-request-id": randomUUID(),
            // The client does not send its body, which would be taken for the next request.
            ...(expectsContinue && { connection: "close" }),
          },
        },
        message.method === "HEAD",
      );
      // What the verb has not read of the body would be taken for the next request.
      if (!message.complete) message.resume();
    } catch (error) {
      this.#report(error);
      response.destroy();
    }
  }

  async #answer(message: IncomingMessage, onBody: () => void): Promise<S3Response> {
    let request: S3Request;
    try {
      request = readRequest(message, this.#rules, onBody);
    } catch (error) {
      return errorResponse(error);
    }
    const { buckets } = this.#options;
    const { credentials, deriveKey, now } = this.#rules;
    return answerRequest(request, {
      buckets,
      now,
      verifyForm: (fields) => verifyPolicySignature(fields, credentials, deriveKey),
      onError: (error) => this.#report(error),
    });
  }

  /** Not after the end, which breaks off the requests in flight. */
  #report(error: unknown): void {
    if (!this.#isClosed) this.#options.onError?.(error);
  }
}

/** Derives signing keys, and keeps the last one: it is the same for all requests of a day. */
function lastKey(): typeof signingKey {
  let last: { readonly text: string; readonly key: KeyObject } | undefined;
  return (secretAccessKey: string, scope: Scope) => {
    const text = `${scope.date}/${scope.region}/${secretAccessKey}`;
    if (last?.text !== text) last = { text, key: signingKey(secretAccessKey, scope) };
    return last.key;
  };
}
