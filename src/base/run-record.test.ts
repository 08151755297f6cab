import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isAbandoned, makeBlobName } from "../store/core/blob-name.ts";
import { newRunId, recordRun, type Owner } from "./run-record.ts";

const runId = "00000000000000aa";
const other = "00000000000000bb";

/** The notes, and the owners of two runtimes of this process: theirs listens. */
let notes: string;
let server: Server;
let theirs: Owner;
let ours: Owner;

beforeEach(async () => {
  notes = mkdtempSync(join(tmpdir(), "ledge-runs-"));
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  theirs = { processId: process.pid, host: "127.0.0.1", port };
  ours = { ...theirs, port: 1 };
});

afterEach(() => {
  vi.restoreAllMocks();
  server.close();
  rmSync(notes, { recursive: true });
});

/** A note of theirs, but for this. */
function noteOf(difference: Partial<Owner>): string {
  return JSON.stringify({ ...theirs, ...difference });
}

/** The number of a process that was, and is no more. */
function endedProcess(): number {
  return spawnSync(process.execPath, ["--version"]).pid;
}

describe("newRunId()", () => {
  it("makes names that count as abandoned as soon as it does not run", () => {
    const made = newRunId();
    const blob = makeBlobName(made, "0".repeat(32));
    expect(isAbandoned(blob, [])).toBe(true);
    expect(isAbandoned(blob, [made])).toBe(false);
  });

  it("is another each time", () => {
    expect(new Set(Array.from({ length: 10 }, newRunId)).size).toBe(10);
  });
});

describe("recordRun()", () => {
  it("leaves a note of its owner", async () => {
    await recordRun(runId, join(notes, "new"), ours);
    expect(JSON.parse(readFileSync(join(notes, "new", runId), "utf8"))).toEqual(ours);
  });

  it.each([
    ["of a run that goes on", () => JSON.stringify(theirs), true],
    ["of a process that has ended", () => noteOf({ processId: endedProcess() }), false],
    // Nobody listens at the port that nobody may have.
    ["of a runtime that was disposed", () => noteOf({ port: 2 }), false],
    ["of an earlier run of the same runtime", () => JSON.stringify(ours), false],
    ["that was cut short", () => JSON.stringify(theirs).slice(0, 20), false],
    ["that is empty", () => "", false],
    ["that is no note", () => "5", false],
    ["with nothing in it", () => "{}", false],
  ])("of a note %s keeps what it must", async (_, text, kept) => {
    writeFileSync(join(notes, other), text());
    await recordRun(runId, notes, ours);
    expect(readdirSync(notes).sort()).toEqual(kept ? [runId, other] : [runId]);
  });

  it("keeps the note of somebody else's process", async () => {
    writeFileSync(join(notes, other), noteOf({ processId: 1 }));
    vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("not permitted"), { code: "EPERM" });
    });
    await recordRun(runId, notes, ours);
    expect(readdirSync(notes)).toContain(other);
  });

  it("takes a folder away that is in the way", async () => {
    mkdirSync(join(notes, other));
    await recordRun(runId, notes, ours);
    expect(readdirSync(notes)).toEqual([runId]);
  });
});
