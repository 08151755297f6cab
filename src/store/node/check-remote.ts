/**
 * Verifies a bucket on an S3 service: reads every object, and compares its content with what the service
 * and the metadata of the object say.
 *
 * Other programs may write meanwhile, so an object that was replaced since it was listed is compared
 * with its own metadata: those of the answer that has the content.
 */
import { createHash, type Hash } from "node:crypto";
import { mapConcurrent } from "../../base/concurrency.ts";
import { isComposite, type ChecksumAlgorithm } from "../core/checksum.ts";
import { StoreError } from "../core/errors.ts";
import { multipartEtag } from "../core/multipart.ts";
import type { DescribedObject } from "../core/operations.ts";
import { allChecksums } from "../core/object.ts";
import { chunksOf, closeContent, type Bucket, type FoundObject } from "./bucket.ts";
import { listPages } from "./bucket-objects.ts";
import { RemoteUnusableError } from "./remote-buckets.ts";
import { RunningChecksums } from "./written-content.ts";
import type { Damage } from "./check-bucket.ts";

export interface RemoteReport {
  readonly name: string;
  objects: number;
  bytes: number;
  readonly damages: Damage[];
  /** Objects that another program has stored: they have no version and no metadata of ours. */
  readonly otherWriters: { count: number; readonly keys: string[] };
  /** Objects in parts of other programs whose entity tag says nothing about their content. */
  readonly unverified: { count: number; readonly keys: string[] };
}

/** Reads at once: a service answers many. */
const readsMax = 8;
/** More names would hide the others. */
const namedMax = 20;

/** @throws StoreError when the bucket cannot be listed */
export async function checkRemote(
  bucket: Bucket,
  onObject: (bytes: number) => void,
): Promise<RemoteReport> {
  const report: RemoteReport = {
    name: bucket.name,
    objects: 0,
    bytes: 0,
    damages: [],
    otherWriters: { count: 0, keys: [] },
    unverified: { count: 0, keys: [] },
  };
  await mapConcurrent(listedObjects(bucket), readsMax, async ({ key, size }) => {
    const verdict = await verdictOf(bucket, key);
    onObject(size);
    if (verdict === null) return;
    report.objects++;
    report.bytes += verdict.bytes;
    if (verdict.problem !== null) report.damages.push({ key, problem: verdict.problem });
    if (verdict.isOther) note(report.otherWriters, key);
    if (verdict.isUnverified) note(report.unverified, key);
  });
  report.damages.sort((one, other) => ((one.key ?? "") < (other.key ?? "") ? -1 : 1));
  return report;
}

interface Verdict {
  readonly bytes: number;
  /** What is wrong, as the end of a sentence about the object. */
  readonly problem: string | null;
  readonly isOther: boolean;
  readonly isUnverified: boolean;
}

/** `null` for an object that was deleted meanwhile. */
async function verdictOf(bucket: Bucket, key: string): Promise<Verdict | null> {
  try {
    const opened = await bucket.get({ key });
    if (opened?.status !== "found") return null;
    try {
      return await compare(bucket, opened);
    } finally {
      closeContent(opened);
    }
  } catch (error) {
    if (!(error instanceof StoreError) || error instanceof RemoteUnusableError) throw error;
    return { bytes: 0, problem: error.message, isOther: false, isUnverified: false };
  }
}

async function compare(bucket: Bucket, opened: FoundObject): Promise<Verdict> {
  const { object, content } = opened;
  const known = Object.entries(allChecksums(object)).filter(([, hex]) => !isComposite(hex));
  const running = new RunningChecksums(known.map(([algorithm]) => algorithm as ChecksumAlgorithm));
  const parts = await partsOf(bucket, object);
  let bytes = 0;
  for await (const chunk of chunksOf(content)) {
    bytes += chunk.length;
    running.update(chunk);
    parts?.update(chunk);
  }
  const found = running.end();
  // The entity tag is the version of an object that another program has stored.
  const isOther = object.version === object.etag;
  const isUnverified =
    known.length === 0 && isOther && (parts === null || parts.etag() !== object.etag);
  const different = known.find(([algorithm, hex]) => found[algorithm as ChecksumAlgorithm] !== hex);
  const problem =
    bytes !== object.size
      ? `the content has ${bytes} bytes, metadata says ${object.size}`
      : different !== undefined
        ? `the content has the ${different[0]} ${found[different[0] as ChecksumAlgorithm]}, ` +
          `metadata says ${different[1]}`
        : parts !== null && !isOther && parts.etag() !== object.etag
          ? `the content has the entity tag ${parts.etag()}, the service says ${object.etag}`
          : null;
  return { bytes, problem, isOther, isUnverified };
}

/** `null` for an object that was not stored in parts. */
async function partsOf(bucket: Bucket, object: DescribedObject): Promise<PartHashes | null> {
  if (!/^[0-9a-f]{32}-\d+$/.test(object.etag)) return null;
  const first = await bucket.get({ key: object.key, partNumber: 1 });
  if (first?.status !== "found") return null;
  closeContent(first);
  return new PartHashes(Math.max(first.range.length, 1));
}

/** The hashes of parts that have one size, but for the last. */
class PartHashes {
  readonly #partBytes: number;
  readonly #ended: { readonly etag: string }[] = [];
  #running: Hash = createHash("md5");
  #count = 0;
  #etag: string | undefined;

  constructor(partBytes: number) {
    this.#partBytes = partBytes;
  }

  update(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.length;) {
      if (this.#count === this.#partBytes) this.#end();
      const some = chunk.subarray(start, start + this.#partBytes - this.#count);
      this.#running.update(some);
      this.#count += some.length;
      start += some.length;
    }
  }

  /** Called after the last chunk. */
  etag(): string {
    if (this.#etag === undefined) {
      this.#end();
      this.#etag = multipartEtag(this.#ended);
    }
    return this.#etag;
  }

  #end(): void {
    this.#ended.push({ etag: this.#running.digest("hex") });
    this.#running = createHash("md5");
    this.#count = 0;
  }
}

async function* listedObjects(bucket: Bucket) {
  for await (const { objects } of listPages(bucket)) yield* objects;
}

function note(noted: { count: number; readonly keys: string[] }, key: string): void {
  noted.count++;
  if (noted.keys.length < namedMax) noted.keys.push(key);
}
