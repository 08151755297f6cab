/** The script that runs operations in workerd, on the binding that the request names. */
import type { Platform } from "./decode.ts";
import { Executor, type AnyBucket } from "./execute.ts";
import type { DigestAlgorithm, ScriptRequest, ScriptResponse } from "./operation.ts";

declare class FixedLengthStream extends TransformStream<
  Uint8Array<ArrayBuffer>,
  Uint8Array<ArrayBuffer>
> {
  constructor(lengthBytes: number);
}

const algorithmNames: Record<DigestAlgorithm, string> = {
  md5: "MD5",
  sha1: "SHA-1",
  sha256: "SHA-256",
  sha384: "SHA-384",
  sha512: "SHA-512",
};

const platform: Platform = {
  digest: (algorithm, bytes) => crypto.subtle.digest(algorithmNames[algorithm], bytes),
  fixedLengthStream({ lengthBytes, bytes, error }) {
    const { readable, writable } = new FixedLengthStream(lengthBytes);
    // The bucket gets the failure from the stream, so the writer's rejection is ignored.
    void write(writable, { bytes, error }).catch(() => undefined);
    return readable;
  },
  responseBody: (bytes) => new Response(bytes).body,
  lockedStream(bytes) {
    const { body } = new Response(bytes);
    body?.getReader();
    return body;
  },
  unknownLengthStream: (bytes) =>
    new ReadableStream({
      start(controller) {
        controller.enqueue(bytes);
        controller.close();
      },
    }),
};

async function write(
  writable: WritableStream<Uint8Array<ArrayBuffer>>,
  { bytes, error }: { bytes: Uint8Array<ArrayBuffer>; error: Error | undefined },
): Promise<void> {
  const writer = writable.getWriter();
  // Two chunks, so that the value does not arrive in one piece.
  const middle = bytes.length >> 1;
  await writer.write(bytes.slice(0, middle));
  await writer.write(bytes.slice(middle));
  await (error === undefined ? writer.close() : writer.abort(error));
}

export default {
  async fetch(request: Request, env: Record<string, AnyBucket>): Promise<Response> {
    const { binding, operations, memory } = (await request.json()) as ScriptRequest;
    const bucket = env[binding];
    if (bucket === undefined) throw new Error(`The script has no binding "${binding}"`);
    const outcomes = await new Executor(bucket, { platform, memory }).run(operations);
    return Response.json({ outcomes, memory } satisfies ScriptResponse);
  },
};
