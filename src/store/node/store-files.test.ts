import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { removePartialFiles } from "./store-files.ts";

const [live, ended] = ["1".repeat(16), "2".repeat(16)] as const;
const random = "3".repeat(32);
const mark = "database.4444444444444444";
const minute = 60;

/** Patterns of temporary names: of two versions of workerd, and of versions to come. */
const patterns = [
  (name: string) => `.kj-tmp.25129.0.${name}.partial`,
  (name: string) => `.${name}.25110.0.tmp`,
  (name: string) => `.#${name}`,
];

it("removePartialFiles() removes temporary files that no live run can be writing", async () => {
  const folder = temporaryFolder({ [`runs/${live}`]: "" });
  const started = Date.now() / 1000;
  utimesSync(join(folder, "runs", live), started, started);
  const blobs = join(folder, "blobs/photos");
  mkdirSync(blobs, { recursive: true });
  const write = (name: string, age: number): string => {
    writeFileSync(join(blobs, name), "");
    utimesSync(join(blobs, name), started - age, started - age);
    return name;
  };
  const kept = [
    ...[live, ended].map((run) => write(`${run}.${random}`, minute)),
    write(mark, minute),
    write("notes.txt", minute),
    // By age: a live run may be writing what was written since it has begun.
    write(".unknown-1", -minute),
    ...patterns.map((pattern) => write(pattern("database.5555555555555555"), -minute)),
    // By the run, whatever the clock says.
    ...patterns.map((pattern) => write(pattern(`${live}.${random}`), minute)),
  ];
  write(".unknown-2", minute);
  for (const pattern of patterns) {
    write(pattern(mark), minute);
    write(pattern(`${ended}.${random}`), -minute);
  }

  await removePartialFiles(join(folder, "blobs"), join(folder, "runs"));

  expect(readdirSync(blobs).toSorted()).toEqual(kept.toSorted());
});
