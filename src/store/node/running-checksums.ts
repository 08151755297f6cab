/** The checksums of content that passes by in pieces. */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { ChecksumAlgorithm, Checksums } from "../core/checksum.ts";
import { RunningCrc } from "../core/hash.ts";

interface RunningChecksum {
  update(bytes: Uint8Array): unknown;
  /** In hexadecimal. */
  digest(): string;
}

export class RunningChecksums {
  readonly #running: readonly (readonly [ChecksumAlgorithm, RunningChecksum])[];

  constructor(algorithms: Iterable<ChecksumAlgorithm>) {
    this.#running = Array.from(new Set(algorithms), (algorithm) => [algorithm, start(algorithm)]);
  }

  update(bytes: Uint8Array): void {
    for (const [, running] of this.#running) running.update(bytes);
  }

  /** Called once, after the last piece. */
  end(): Checksums {
    return Object.fromEntries(
      this.#running.map(([algorithm, running]) => [algorithm, running.digest()]),
    );
  }
}

function start(algorithm: ChecksumAlgorithm): RunningChecksum {
  if (algorithm === "crc32") return new NativeCrc32();
  if (algorithm === "crc32c" || algorithm === "crc64nvme") return new RunningCrc(algorithm);
  const running = createHash(algorithm);
  return { update: (bytes) => running.update(bytes), digest: () => running.digest("hex") };
}

/** zlib's CRC-32 uses the instructions of the processor. */
class NativeCrc32 implements RunningChecksum {
  #value = 0;

  update(bytes: Uint8Array): void {
    this.#value = crc32(bytes, this.#value);
  }

  digest(): string {
    return this.#value.toString(16).padStart(8, "0");
  }
}
