/** Runs operations on the model, with Node's hashes and with descriptions instead of streams. */
import { createHash } from "node:crypto";

import type { Platform } from "./decode.ts";
import { Executor } from "./execute.ts";
import type { ModelBucket } from "./model.ts";
import { emptyMemory, type Operation, type Outcome } from "./operation.ts";
import { ModelStream } from "./rules/arguments.ts";

const platform: Platform = {
  digest: async (algorithm, bytes) =>
    new Uint8Array(createHash(algorithm).update(bytes).digest()).buffer,
  fixedLengthStream: (stream) => new ModelStream(stream),
  responseBody: (bytes) => new ModelStream({ bytes, lengthBytes: bytes.length }),
  lockedStream: (bytes) => new ModelStream({ bytes, lengthBytes: bytes.length, locked: true }),
  unknownLengthStream: (bytes) => new ModelStream({ bytes }),
};

export function runModel(
  bucket: ModelBucket,
  operations: readonly Operation[],
): Promise<Outcome[][]> {
  return new Executor(bucket, { platform, memory: emptyMemory() }).run(operations);
}
