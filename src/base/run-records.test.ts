import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newRunId, RunRecords, type RunRecord } from "./run-records.ts";

const runId = "00000000000000aa";
const otherRunId = "00000000000000bb";
/** Only Linux tells when a process started. */
const isNotLinux = process.platform !== "linux";

/** Records of two Miniflares of this process. Only the other one listens. */
let folder: string;
let server: Server;
let other: RunRecord;
let own: RunRecord;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ledge-runs-"));
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  other = { processId: process.pid, host: "127.0.0.1", port };
  own = { ...other, port: 1 };
});

afterEach(() => {
  vi.restoreAllMocks();
  server.close();
  rmSync(folder, { recursive: true });
});

/** The other record with a difference, as text. */
function otherWith(difference: Partial<RunRecord>): string {
  return JSON.stringify({ ...other, ...difference });
}

function endedProcessId(): number {
  return spawnSync(process.execPath, ["--version"]).pid;
}

it("newRunId() returns a different id each time", () => {
  expect(new Set(Array.from({ length: 10 }, newRunId)).size).toBe(10);
});

describe("RunRecords.start()", () => {
  it("writes the record", async () => {
    await new RunRecords(join(folder, "new")).start(runId, own);
    expect(JSON.parse(readFileSync(join(folder, "new", runId), "utf8"))).toEqual(own);
    expect(readdirSync(join(folder, "new"))).toEqual([runId]);
  });

  it.each([
    ["keeps the record of an active run", () => JSON.stringify(other), true],
    [
      "removes the record of a dead process",
      () => otherWith({ processId: endedProcessId() }),
      false,
    ],
    // The id is that of a process that runs, but not of the process that wrote the record.
    [
      "removes the record of an earlier process",
      () => otherWith({ processStart: "1" }),
      isNotLinux,
    ],
    // No server listens on port 2.
    ["removes the record of a disposed Miniflare", () => otherWith({ port: 2 }), false],
    ["removes the record of an earlier run of the Miniflare", () => JSON.stringify(own), false],
    ["removes half a record", () => JSON.stringify(other).slice(0, 20), false],
    ["removes an empty file", () => "", false],
    ["removes a file that is not a record", () => "5", false],
    ["removes a record without values", () => "{}", false],
  ])("%s", async (_, text, kept) => {
    writeFileSync(join(folder, otherRunId), text());
    await new RunRecords(folder).start(runId, own);
    expect(readdirSync(folder).sort()).toEqual(kept ? [runId, otherRunId] : [runId]);
  });

  it("keeps the record of another user's process", async () => {
    writeFileSync(join(folder, otherRunId), otherWith({ processId: 1 }));
    vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("not permitted"), { code: "EPERM" });
    });
    await new RunRecords(folder).start(runId, own);
    expect(readdirSync(folder)).toContain(otherRunId);
  });

  it("removes a folder with the name of a run", async () => {
    mkdirSync(join(folder, otherRunId));
    await new RunRecords(folder).start(runId, own);
    expect(readdirSync(folder)).toEqual([runId]);
  });
});
