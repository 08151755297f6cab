import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isAbandoned, makeBlobName } from "../store/core/blob-name.ts";
import { newBoot, noteBoot } from "./boot.ts";

const boot = "00000000000000aa";
const other = "00000000000000bb";

/** The notes, and the temporary folders of two runtimes. */
let root: string;
let notes: string;
let ours: string;
let theirs: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ledge-boot-"));
  notes = join(root, "boots");
  ours = join(root, "ours");
  theirs = join(root, "theirs");
  mkdirSync(theirs);
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(root, { recursive: true });
});

function leaveNote(text: string): void {
  mkdirSync(notes, { recursive: true });
  writeFileSync(join(notes, other), text);
}

function noteOf(processId: number, temporaryFolder: string): string {
  return JSON.stringify({ processId, temporaryFolder });
}

/** The number of a process that was, and is no more. */
function endedProcess(): number {
  return spawnSync(process.execPath, ["--version"]).pid;
}

describe("newBoot()", () => {
  it("makes names that count as abandoned as soon as it does not run", () => {
    const made = newBoot();
    const blob = makeBlobName(made, "0".repeat(32));
    expect(isAbandoned(blob, [])).toBe(true);
    expect(isAbandoned(blob, [made])).toBe(false);
  });

  it("is another each time", () => {
    expect(new Set(Array.from({ length: 10 }, newBoot)).size).toBe(10);
  });
});

describe("noteBoot()", () => {
  it("leaves a note with the process and its temporary folder, and sees that it is there", () => {
    noteBoot(boot, notes, ours);
    expect(readFileSync(join(notes, boot), "utf8")).toBe(noteOf(process.pid, ours));
    expect(existsSync(ours)).toBe(true);
  });

  it.each([
    ["of a run that goes on", () => noteOf(process.pid, theirs), true],
    ["of a process that has ended", () => noteOf(endedProcess(), theirs), false],
    ["of a runtime that was disposed", () => noteOf(process.pid, join(root, "gone")), false],
    ["of an earlier run of the same runtime", () => noteOf(process.pid, ours), false],
    ["that was cut short", () => noteOf(process.pid, theirs).slice(0, 20), false],
    ["that is empty", () => "", false],
    ["that is no note", () => "5", false],
    ["with nothing in it", () => "{}", false],
  ])("of a note %s keeps what it must", (_, text, kept) => {
    leaveNote(text());
    noteBoot(boot, notes, ours);
    expect(readdirSync(notes).sort()).toEqual(kept ? [boot, other] : [boot]);
  });

  it("keeps the note of somebody else's process", () => {
    leaveNote(noteOf(1, theirs));
    vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("not permitted"), { code: "EPERM" });
    });
    noteBoot(boot, notes, ours);
    expect(readdirSync(notes)).toContain(other);
  });

  it("takes a folder away that is in the way", () => {
    mkdirSync(join(notes, other), { recursive: true });
    noteBoot(boot, notes, ours);
    expect(readdirSync(notes)).toEqual([boot]);
  });
});
