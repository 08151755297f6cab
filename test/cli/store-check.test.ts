/** `ledge store check`: finds damage, names it, and does not disturb a runtime. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { StoreBucket } from "../../src/types/store.ts";
import { bytesOf } from "../support/bytes.ts";
import { bucketDatabase, checkpoint, flipBit, flipIn } from "../support/databases.ts";
import { blobFiles } from "../support/store.ts";
import { StoreProject } from "../support/store-command.ts";

const partBytes = 5 * 1024 * 1024;

class CheckedProject extends StoreProject {
  async check(...words: string[]): Promise<{ code: number | null; text: string }> {
    const { code, text } = await this.store("check", "photos", ...words);
    return { code, text };
  }
}

/** Values of every kind: in a row, with a tail, in a file, in parts. */
async function fill(bucket: StoreBucket): Promise<void> {
  await bucket.put("small", "small value", { customMetadata: { owner: "me" } });
  await bucket.put("with a tail", bytesOf(1024, 2));
  await bucket.put("inline", bytesOf(100_000, 3));
  await bucket.put("file", bytesOf(200_000, 4));
  const joined = await bucket.createMultipartUpload("joined");
  const parts = [await joined.uploadPart(1, bytesOf(partBytes, 5))];
  parts.push(await joined.uploadPart(2, bytesOf(1000, 6)));
  await joined.complete(parts);
  const open = await bucket.createMultipartUpload("open");
  await open.uploadPart(1, bytesOf(300_000, 7));
}

const copies = mkdtempSync(join(tmpdir(), "ledge-check-"));
const filledState = join(copies, "filled");
afterAll(() => rmSync(copies, { recursive: true, force: true }));

/** A project whose bucket is filled, and that no process uses. The first project is filled, others copy it. */
async function filledProject(): Promise<CheckedProject> {
  const project = new CheckedProject();
  const state = project.path(".wrangler");
  if (existsSync(filledState)) {
    cpSync(filledState, state, { recursive: true });
    return project;
  }
  const miniflare = await project.serve();
  const { BUCKET } = await miniflare.getBindings<{ BUCKET: StoreBucket }>();
  await fill(BUCKET);
  await miniflare.dispose();
  cpSync(state, filledState, { recursive: true });
  return project;
}

function fileOf(project: StoreProject, size: number): string {
  const found = blobFiles(project.persistPath).find((path) => statSync(path).size === size);
  if (found === undefined) throw new Error(`There is no file of ${size} bytes.`);
  return found;
}

interface CheckJson {
  buckets: {
    name: string;
    objects: number;
    damages: { key?: string; problem: string }[];
    garbage: { files: number; bytes: number };
    remarks: string[];
  }[];
}

async function damagesOf(project: CheckedProject): Promise<[key: string | undefined, string][]> {
  const { text } = await project.check("--json");
  const { buckets } = JSON.parse(text) as CheckJson;
  return (buckets[0]?.damages ?? []).map(({ key, problem }) => [key, problem]);
}

type Harm = readonly [
  name: string,
  harm: (project: StoreProject) => void,
  key: string,
  problem: RegExp,
];
const database = (project: StoreProject) => bucketDatabase(project.persistPath);

/** Each group harms one store, and each harm of a group another object. */
const harms: Record<string, Harm[]> = {
  "flipped bits in files, rows and contents": [
    [
      "a file",
      (project) => flipBit(fileOf(project, 200_000), 123_457),
      "file",
      /^file "\S+" has the MD5 [0-9a-f]{32}, metadata says [0-9a-f]{32}$/,
    ],
    ["a body", flipBody, "inline", /^its content has the MD5 [0-9a-f]{32}, metadata says/],
    ["a part", flipPart, "joined", /^file "\S+" has the MD5 /],
    [
      "a part of an upload",
      (project) => flipBit(fileOf(project, 300_000), 9),
      "open",
      /^part 1 of its upload is damaged: file "\S+" has the MD5 /,
    ],
    [
      "the metadata",
      (project) => flipIn(database(project), '"owner":"me"'),
      "small",
      /^its metadata cannot be read/,
    ],
    [
      "a tail",
      (project) => flipIn(database(project), bytesOf(1024, 2).subarray(1012)),
      "with a tail",
      /^its content has the MD5 [0-9a-f]{32}, metadata says/,
    ],
  ],
  "a missing file, and a flipped bit in the body of a small part": [
    [
      "a missing file",
      (project) => rmSync(fileOf(project, 200_000)),
      "file",
      /^file "\S+" is missing/,
    ],
    [
      "the body of a small part",
      (project) => flipIn(database(project), bytesOf(1000, 6)),
      "joined",
      /^its content has the MD5 [0-9a-f]{32}, metadata says/,
    ],
  ],
  "a long file": [
    [
      "a long file",
      (project) => appendFileSync(fileOf(project, 200_000), "x"),
      "file",
      /is 200001 bytes, metadata says 200000$/,
    ],
  ],
};

function flipBody(project: StoreProject): void {
  flipIn(database(project), bytesOf(100_000, 3).subarray(0, 100));
}

function flipPart(project: StoreProject): void {
  flipBit(fileOf(project, partBytes), 9);
}

describe("ledge store check", () => {
  it("finds nothing in an intact store, without a runtime", async () => {
    const project = await filledProject();
    const before = readdirSync(project.path(".wrangler/state/v3/store/runs"));
    const checked = await project.store("check");
    expect(checked.errors).toBe("");
    expect(checked.text).toMatch(
      /^archive: 0 objects, 0 bytes: intact\.\nphotos: 5 objects, .*: intact\.\n$/,
    );
    expect(checked.code).toBe(0);
    expect(readdirSync(project.path(".wrangler/state/v3/store/runs"))).toEqual(before);
  });

  it.each(Object.entries(harms))("names the objects: %s", async (_, group) => {
    const project = await filledProject();
    checkpoint(database(project));
    for (const [, harm] of group) harm(project);
    const { code, text } = await project.check();
    expect(code).toBe(1);
    for (const [, , key] of group) expect(text).toContain(`  "${key}": `);
    expect(text).toContain("Put each damaged object again, or delete it");
    const damages = new Map(await damagesOf(project));
    expect(damages.size).toBe(group.length);
    for (const [, , key, problem] of group) expect(damages.get(key)).toMatch(problem);
    // What the command advises works.
    const keys = group.map(([, , key]) => key).filter((key) => key !== "open");
    const deleted = await project.store("delete", ...keys.map((key) => `photos/${key}`));
    expect(deleted.code).toBe(0);
    const { buckets } = await project.json<CheckJson>("check", "photos");
    expect(buckets[0]).toMatchObject({ objects: 5 - keys.length });
    expect(buckets[0]?.damages).toHaveLength(group.length - keys.length);
  });

  it("reports a database that SQLite cannot read, and its path", async () => {
    const project = await filledProject();
    checkpoint(database(project));
    writeFileSync(database(project), "This is not a database.".repeat(1000));
    const { code, text } = await project.check();
    expect(code).toBe(1);
    expect(text).toContain("The database cannot be read: file is not a database.");
    expect(text).toContain(`restore ${database(project)} from a backup`);
    expect((await project.store("list", "photos")).errors).toContain(database(project));
    expect(blobFiles(project.persistPath).length).toBe(3);
  });

  it("reports damage of SQLite's structure", async () => {
    const project = await filledProject();
    checkpoint(database(project));
    // The first free byte of the second page: the header of a table's root page.
    flipBit(database(project), (4096 + 3) * 8);
    const damages = await damagesOf(project);
    expect(damages.length).toBeGreaterThan(0);
    expect(damages[0]?.[1]).toMatch(/^The database (is damaged|cannot be read): /);
  });

  it("mentions files that nothing names, and is content with them", async () => {
    const project = await filledProject();
    const orphan = `${"0".repeat(16)}.${"1".repeat(32)}`;
    writeFileSync(join(fileOf(project, 200_000), "..", orphan), "orphan");
    const { code, text } = await project.check();
    expect(text).toContain("1 unused file (6 bytes) of ended runs");
    expect(code).toBe(0);
  });

  it("reports files whose database is lost, until they are given up", async () => {
    const project = await filledProject();
    const kept = `${database(project)}.backup`;
    checkpoint(database(project));
    renameSync(database(project), kept);
    expect(await damagesOf(project)).toEqual([
      [
        undefined,
        expect.stringMatching(/^The database that names 3 of the bucket's files is lost/),
      ],
    ]);
    // A command opens the bucket, which makes a new database. The files stay.
    expect((await project.store("put", "photos/new", "wrangler.jsonc")).code).toBe(0);
    expect((await project.store("gc")).code).toBe(0);
    expect(blobFiles(project.persistPath).length).toBe(3);
    expect((await damagesOf(project)).length).toBe(1);

    // A restored database finds its files.
    const replaced = `${database(project)}.new`;
    checkpoint(database(project));
    renameSync(database(project), replaced);
    renameSync(kept, database(project));
    expect(await project.check()).toMatchObject({ code: 0 });
    renameSync(database(project), kept);
    renameSync(replaced, database(project));
    rmSync(`${database(project)}-wal`, { force: true });
    rmSync(`${database(project)}-shm`, { force: true });

    const given = await project.store("gc", "--lost");
    expect(given.text).toMatch(/^Removed 3 unused files/);
    expect(blobFiles(project.persistPath)).toEqual([]);
    expect(await project.check()).toMatchObject({ code: 0 });
  });

  it("suggests a bucket", async () => {
    const { code, errors } = await new StoreProject().store("check", "photo");
    expect(code).toBe(3);
    expect(errors).toContain('Did you mean "photos"?');
  });
});

describe("ledge store check beside a runtime that writes", () => {
  it("finds nothing, and no write fails", async () => {
    const project = new StoreProject();
    const miniflare = await project.serve();
    const { BUCKET } = await miniflare.getBindings<{ BUCKET: StoreBucket }>();
    await fill(BUCKET);
    const checking = { ends: false };
    const failures: unknown[] = [];
    const write = async (writer: number): Promise<number> => {
      let writes = 0;
      for (; !checking.ends || writes < 50; writes++) {
        const key = `${writer}/${writes % 5}`;
        try {
          await BUCKET.put(key, bytesOf(writes % 3 === 0 ? 150_000 : 3000, writes));
          if (writes % 7 === 0) await BUCKET.delete(key);
        } catch (error) {
          failures.push(error);
        }
      }
      return writes;
    };
    const writers = [write(1), write(2), write(3)];
    const checks = [];
    // A process of its own reads while the writers write.
    for (let round = 0; round < 5; round++) {
      checks.push(await project.start("check", "photos").end());
    }
    checking.ends = true;
    const writes = await Promise.all(writers);
    expect(failures).toEqual([]);
    expect(Math.min(...writes)).toBeGreaterThanOrEqual(50);
    for (const { code, text, errors } of checks) {
      expect({ code, text, errors }).toMatchObject({ code: 0, errors: "" });
    }
  });
});
