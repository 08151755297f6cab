/** docs/reliability.md: its commands for backups, as they are printed there. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { bytesOf } from "../support/bytes.ts";
import { ledge } from "../support/dev-process.ts";
import { blobFiles } from "../support/store.ts";
import { StoreProject } from "../support/store-command.ts";
import { blocks, read, section } from "./support/pages.ts";

const [backup, restore, copy, goBack, ...more] = blocks(
  section(read("docs/reliability.md"), "Backups"),
  "sh",
);

/** Runs the text of a block. `npx ledge` is the built command line. */
function runBlock(project: StoreProject, block: string | undefined): string {
  const programs = project.path("programs");
  mkdirSync(programs, { recursive: true });
  const script = `#!/bin/sh\nshift\nexec "${process.execPath}" "${ledge}" "$@"\n`;
  writeFileSync(join(programs, "npx"), script, { mode: 0o755 });
  const env = { ...process.env, PATH: `${programs}${delimiter}${process.env["PATH"]}` };
  const options = { cwd: project.folder, env, encoding: "utf8" } as const;
  return execFileSync("sh", ["-ec", block as string], options);
}

it("the commands for backups bring back the objects, with their files", async () => {
  const project = new StoreProject();
  const keys = async () => (await project.store("list", "photos")).text.match(/\S+$/gm);
  await project.start("put", "photos/large", "-").end(bytesOf(200_000));
  await project.start("put", "photos/small", "-").end("value");
  expect(runBlock(project, backup)).toContain("Backed up photos: 2 objects");
  await project.store("delete", "photos", "--prefix", "", "--yes");
  await project.start("put", "photos/later", "-").end(bytesOf(200_000, 2));
  expect(runBlock(project, restore)).toContain("Restored photos: 2 objects");
  expect(await keys()).toEqual(["large", "small"]);

  runBlock(project, copy);
  await project.start("put", "photos/later", "-").end(bytesOf(200_000, 2));
  runBlock(project, goBack);
  expect(await keys()).toEqual(["large", "small"]);
  expect((await project.store("check")).code).toBe(0);
  expect(blobFiles(project.persistPath)).toHaveLength(1);
  expect(more).toEqual([]);
});
