import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { explain, requireUsableFolder } from "./folder.ts";
import { UserError } from "../base/user-error.ts";

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "ledge-unit-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe("requireUsableFolder()", () => {
  it("creates the folder and its subfolders, and leaves no other file", () => {
    const folder = join(temporaryFolder(), "v3/store");
    expect(requireUsableFolder(folder, { subfolders: ["runs"] })).toEqual({ isFull: false });
    expect(readdirSync(folder)).toEqual(["runs"]);
  });

  it("names the file that is in the place of a folder", () => {
    const parent = temporaryFolder();
    writeFileSync(join(parent, "v3"), "");
    expect(() => requireUsableFolder(join(parent, "v3/store"))).toThrow(
      `${join(parent, "v3")} is a file, but a folder is needed there.`,
    );
  });
});

describe("explain()", () => {
  const cases: [code: string, text: string][] = [
    ["ENOSPC", "No space left on the device that holds /state."],
    ["EDQUOT", "No space left on the device that holds /state."],
    ["EROFS", "Cannot write to /state: its device is mounted read-only."],
    ["EACCES", "This user may not write to /state"],
    ["EIO", "The device that holds /state fails: broken."],
  ];
  it.each(cases)("makes a sentence of %s", (code, text) => {
    const explained = explain(Object.assign(new Error("broken"), { code }), "/state");
    expect(explained).toBeInstanceOf(UserError);
    expect((explained as Error).message).toContain(text);
  });

  it("returns other errors as they are", () => {
    const error = new Error("another");
    expect(explain(error, "/state")).toBe(error);
  });
});
