/**
 * Flips a random bit in a random place of a blob or of a database: a read that verifies returns the
 * right bytes or fails, and `ledge store check` finds every flip that makes a read fail.
 *
 * A bucket is filled once and copied. Each copy gets one flipped bit, and one runtime reads all
 * copies, because starting a runtime takes longer than the rest.
 */
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bucketFolder, isBlobName } from "../../src/store/core/content.ts";
import { checkBucket, type BucketReport } from "../../src/store/node/check-bucket.ts";
import { bytesOf } from "../support/bytes.ts";
import { bucketDatabase, checkpoint, flipBit } from "../support/databases.ts";
import { startStore, temporaryFolder } from "../support/store.ts";
import { bucketEntry, worker } from "../support/worker.ts";
import { isLong, SeededRandom } from "./support/seed.ts";

const copies = isLong ? 200 : 16;
const rounds = isLong ? 10 : 1;
/** Of SQLite. */
const pageBytes = 4096;
const partBytes = 5 * 1024 * 1024;

/** By key, what two reads say: a digest of the bytes, an error, or `null` for a missing object. */
type Reading = Record<string, (string | null)[]>;

/** Reads everything inside of workerd. An error begins with "!". */
const script = `
  const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16)).join();
  const read = async (bucket, key, options) => {
    try {
      const object = await bucket.get(key, options);
      if (object === null) return null;
      return hex(await crypto.subtle.digest("SHA-1", await object.arrayBuffer()));
    } catch (error) {
      return "!" + error.message;
    }
  };
  export default {
    async fetch(request, env) {
      const { name, keys } = await request.json();
      const objects = {};
      for (const key of keys) {
        objects[key] = await Promise.all([
          read(env[name], key),
          read(env[name], key, { range: { suffix: 700 } }),
        ]);
      }
      return Response.json(objects);
    },
  };`;

interface Template {
  readonly folder: string;
  readonly keys: readonly string[];
}

async function fillTemplate(): Promise<Template> {
  const folder = temporaryFolder();
  const store = await startStore(folder);
  const { bucket } = store;
  const keys: string[] = [];
  const put = async (key: string, size: number, customMetadata?: Record<string, string>) => {
    keys.push(key);
    await bucket.put(key, bytesOf(size, keys.length), customMetadata && { customMetadata });
  };
  for (let index = 0; index < 30; index++) await put(`folder/small-${index}`, 10 + index * 7);
  for (let index = 0; index < 5; index++) await put(`folder/tail-${index}`, 1024);
  for (let index = 0; index < 5; index++)
    await put(`described-${index}`, 100, { name: "é".repeat(20) });
  await put("inline", 100_000);
  await put("file", 200_000);
  const upload = await bucket.createMultipartUpload("joined");
  keys.push("joined");
  const parts = [await upload.uploadPart(1, bytesOf(partBytes, 77))];
  parts.push(await upload.uploadPart(2, bytesOf(5000, 78)));
  await upload.complete(parts);
  await store.stop();
  checkpoint(bucketDatabase(folder));
  return { folder, keys };
}

/** A folder with copies of the template's bucket. */
function copyBuckets({ folder }: Template, names: readonly string[]): string {
  const target = temporaryFolder();
  mkdirSync(join(bucketDatabase(target), ".."), { recursive: true });
  for (const name of names) {
    copyFileSync(bucketDatabase(folder), bucketDatabase(target, name));
    cpSync(join(folder, "store/blobs/photos"), blobsOf(target, name), { recursive: true });
  }
  return target;
}

function blobsOf(folder: string, name: string): string {
  return join(folder, "store/blobs", bucketFolder(name));
}

async function readBuckets(
  folder: string,
  names: readonly string[],
  keys: readonly string[],
): Promise<Map<string, Reading>> {
  const env = Object.fromEntries(
    names.map((name) => [name, bucketEntry({ bucket_name: name, verify_reads: true })]),
  );
  const store = await startStore(folder, [worker(script, { env })]);
  const readings = new Map<string, Reading>();
  for (const name of names) {
    const body = JSON.stringify({ name, keys });
    const response = await store.miniflare.dispatchFetch("http://script/", {
      method: "POST",
      body,
    });
    readings.set(name, (await response.json()) as Reading);
  }
  await store.stop();
  return readings;
}

function check(folder: string, bucketName: string): Promise<BucketReport> {
  const storeFolder = join(folder, "store");
  return checkBucket({ storeFolder, bucketName, activeRuns: () => [], onObject: () => {} });
}

/** Half of the bits are in the pages of rows, which are few. */
function randomBit(random: SeededRandom, path: string): number {
  const content = readFileSync(path);
  const pages = Array.from({ length: content.length / pageBytes }, (_, page) => page);
  const ofRows = pages.filter((page) =>
    content.subarray(page * pageBytes, (page + 1) * pageBytes).includes("folder/"),
  );
  const page = random.pick(random.next() < 0.5 ? ofRows : pages);
  return page * pageBytes * 8 + random.integer(0, pageBytes * 8 - 1);
}

/** Bytes that are those of no object. A damaged key makes an object missing, or is another key. */
function wrongAnswers(reading: Reading, right: Reading): string[] {
  const known = new Set(Object.values(right).flat());
  return Object.entries(reading).flatMap(([key, answers]) =>
    answers
      .filter((answer) => answer !== null && !known.has(answer) && !isFailure(answer))
      .map((answer) => `${key}: ${answer}`),
  );
}

function isFailure(answer: string | null): boolean {
  return answer?.startsWith("!") === true;
}

describe("a flipped bit", () => {
  it.each(Array.from({ length: rounds }, (_, round) => round))(
    "in a page of a database gives no wrong bytes to reads that verify (round %i)",
    async (round) => {
      const random = new SeededRandom(`a flipped bit in a database, round ${round}`);
      const template = await fillTemplate();
      const names = Array.from({ length: copies }, (_, index) => `copy${index}`);
      const folder = copyBuckets(template, ["intact", ...names]);
      const bits = new Map<string, number>();
      const reports = new Map<string, BucketReport>();
      for (const name of names) {
        const path = bucketDatabase(folder, name);
        const bit = randomBit(random, path);
        bits.set(name, bit);
        flipBit(path, bit);
        reports.set(name, await check(folder, name));
      }
      expect((await check(folder, "intact")).damages).toEqual([]);
      const readings = await readBuckets(folder, ["intact", ...names], template.keys);
      const right = readings.get("intact") as Reading;
      for (const key of template.keys) expect(right[key]?.[0]).toMatch(/^[^!]/);
      for (const name of names) {
        const reading = readings.get(name) as Reading;
        const context = { name, bit: bits.get(name), report: reports.get(name)?.damages };
        expect({ ...context, wrong: wrongAnswers(reading, right) }).toMatchObject({ wrong: [] });
        // A flip that fails no read may be in unused space, or in properties without a hash.
        const hasFailure = Object.values(reading).flat().some(isFailure);
        const isFound = !hasFailure || reports.get(name)?.damages.length !== 0;
        expect({ ...context, isFound }).toMatchObject({ isFound: true });
      }
    },
  );

  it("in the last key, which then sorts before others, is reported by a check that ends", async () => {
    const { folder, keys } = await fillTemplate();
    expect(keys.toSorted().at(-1)).toBe("joined");
    const path = bucketDatabase(folder);
    // "joined" becomes "boined".
    flipBit(path, readFileSync(path).lastIndexOf("joined") * 8 + 3);
    const { damages } = await check(folder, "photos");
    expect(damages.map(({ problem }) => problem)).toEqual([
      "The database is damaged: row not in PRIMARY KEY order for objects",
      'The objects after "boined" cannot be read: the row of "boined" is not in its place.',
    ]);
  });

  it("in a file is found by check, and by reads that verify", async () => {
    const random = new SeededRandom("a flipped bit in a file");
    const template = await fillTemplate();
    const names = Array.from({ length: isLong ? 30 : 6 }, (_, index) => `copy${index}`);
    const folder = copyBuckets(template, ["intact", ...names]);
    for (const name of names) {
      const blobs = readdirSync(blobsOf(folder, name)).filter((file) => isBlobName(file));
      const blob = join(blobsOf(folder, name), random.pick(blobs));
      flipBit(blob, random.integer(0, statSync(blob).size * 8 - 1));
      const damages = (await check(folder, name)).damages;
      expect(damages.map(({ key }) => key)).toEqual([
        statSync(blob).size === partBytes ? "joined" : "file",
      ]);
    }
    const readings = await readBuckets(folder, ["intact", ...names], template.keys);
    const right = readings.get("intact") as Reading;
    for (const name of names) {
      const reading = readings.get(name) as Reading;
      expect(wrongAnswers(reading, right)).toEqual([]);
      const failed = Object.entries(reading).filter(([, [whole = null]]) => isFailure(whole));
      expect(failed.length).toBe(1);
      const [key, [whole]] = failed[0] as [string, string[]];
      expect(whole).toMatch(`!get: Cannot read the content of "${key}": file `);
      expect(whole).toMatch(/has the MD5 .* The object is damaged; put it again or delete it\./);
    }
  });
});
