import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readOrMakeFile } from "./private-files.ts";

function temporaryFile() {
  const root = mkdtempSync(join(tmpdir(), "ledge-made-once-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  return { folder: join(root, "private"), name: "secret" };
}

it("readOrMakeFile() makes a file once, which only the user can read", () => {
  const file = temporaryFile();
  expect(readOrMakeFile(file, () => "first")).toBe("first");
  expect(readOrMakeFile(file, () => "second")).toBe("first");
  expect(statSync(join(file.folder, file.name)).mode & 0o777).toBe(0o600);
  expect(readdirSync(file.folder)).toEqual(["secret"]);
});

it("readOrMakeFile() takes the text of a process that was faster", () => {
  const file = temporaryFile();
  const text = readOrMakeFile(file, () => {
    // Another process makes the file after this process has looked for it.
    readOrMakeFile(file, () => "other");
    return "own";
  });
  expect(text).toBe("other");
  expect(readdirSync(file.folder)).toEqual(["secret"]);
});

it("readOrMakeFile() says why a folder cannot be made", () => {
  const file = temporaryFile();
  writeFileSync(file.folder, "");
  expect(() => readOrMakeFile(file, () => "text")).toThrow(/ENOTDIR|EEXIST/);
});
