/**
 * Verifies a bucket on an S3 service: reads every object, and compares its content with what the service
 * and the metadata of the object say.
 *
 * Other programs may write meanwhile, so an object that was replaced since it was listed is compared
 * with its own metadata: those of the answer that has the content.
 */
import { createHash } from "node:crypto";
import { mapConcurrent } from "../../base/concurrency.ts";
import { isComposite, type ChecksumAlgorithm } from "../core/checksum.ts";
import { StoreError } from "../core/errors.ts";
import { multipartEtag } from "../core/multipart.ts";
import { allChecksums } from "../core/object.ts";
import { firstPartBytes, listPages } from "./bucket-objects.ts";
import { chunksOf, closeContent, type Bucket, type FoundObject } from "./bucket.ts";
import type { Damage } from "./check-bucket.ts";
import { RemoteUnusableError } from "./remote-buckets.ts";
import { RunningChecksums } from "./written-content.ts";

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
    try {
      const opened = await bucket.get({ key });
      if (opened?.status === "found") {
        await checkObject(bucket, opened, report).finally(() => closeContent(opened));
      }
    } catch (error) {
      if (!(error instanceof StoreError) || error instanceof RemoteUnusableError) throw error;
      report.objects++;
      report.damages.push({ key, problem: error.message });
    }
    onObject(size);
  });
  report.damages.sort((one, other) => ((one.key ?? "") < (other.key ?? "") ? -1 : 1));
  return report;
}

async function* listedObjects(bucket: Bucket) {
  for await (const { objects } of listPages(bucket)) yield* objects;
}

async function checkObject(
  bucket: Bucket,
  { object, content }: FoundObject,
  report: RemoteReport,
): Promise<void> {
  const { key, etag } = object;
  const known = Object.entries(allChecksums(object)).filter(([, hex]) => !isComposite(hex));
  const running = new RunningChecksums(known.map(([algorithm]) => algorithm as ChecksumAlgorithm));
  const isOfParts = /^[0-9a-f]{32}-\d+$/.test(etag);
  const partBytes = isOfParts ? await firstPartBytes(bucket, object) : null;
  const parts = partBytes === null ? null : hashParts(Math.max(partBytes, 1));
  let bytes = 0;
  for await (const chunk of chunksOf(content)) {
    bytes += chunk.length;
    running.update(chunk);
    parts?.update(chunk);
  }
  const found = running.end();
  const partsEtag = parts?.etag() ?? null;
  // The entity tag is the version of an object that another program has stored.
  const isOther = object.version === etag;
  report.objects++;
  report.bytes += bytes;
  if (isOther) note(report.otherWriters, key);
  if (isOther && known.length === 0 && partsEtag !== etag) note(report.unverified, key);
  const damage = (problem: string): void => void report.damages.push({ key, problem });
  const different = known.find(([algorithm, hex]) => found[algorithm as ChecksumAlgorithm] !== hex);
  if (bytes !== object.size) {
    damage(`the content has ${bytes} bytes, metadata says ${object.size}`);
  } else if (different !== undefined) {
    const [algorithm, hex] = different;
    const actual = found[algorithm as ChecksumAlgorithm];
    damage(`the content has the ${algorithm} ${actual}, metadata says ${hex}`);
  } else if (partsEtag !== null && !isOther && partsEtag !== etag) {
    damage(`the content has the entity tag ${partsEtag}, the service says ${etag}`);
  }
}

/** The entity tag of parts that have one size, but for the last. */
function hashParts(partBytes: number) {
  const ended: { readonly etag: string }[] = [];
  let running = createHash("md5");
  let count = 0;
  const end = (): void => {
    ended.push({ etag: running.digest("hex") });
    running = createHash("md5");
    count = 0;
  };
  return {
    update(chunk: Uint8Array): void {
      for (let start = 0; start < chunk.length;) {
        if (count === partBytes) end();
        const some = chunk.subarray(start, start + partBytes - count);
        running.update(some);
        count += some.length;
        start += some.length;
      }
    },
    etag(): string {
      end();
      return multipartEtag(ended);
    },
  };
}

function note(noted: { count: number; readonly keys: string[] }, key: string): void {
  noted.count++;
  if (noted.keys.length < namedMax) noted.keys.push(key);
}
