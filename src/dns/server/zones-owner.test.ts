import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { processStart } from "../../base/processes.ts";
import { findOwner, ZonesOwner, ZonesTakenError } from "./zones-owner.ts";

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "ledge-claim-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "v3", "dns");
}

const keeping = { brief: false };

function leaveNote(folder: string, note: unknown): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "running.json"), JSON.stringify(note));
}

test("ZonesOwner.take() gives the folder to one of many", async () => {
  const folder = temporaryFolder();
  leaveNote(folder, { id: "old", processId: 2 ** 22 + 1, processStart: null, brief: false });
  const claims = Array.from({ length: 20 }, () => ZonesOwner.take(folder, keeping));
  const results = await Promise.allSettled(claims);
  const won = results.filter(({ status }) => status === "fulfilled");
  const lost = results.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
  expect(won).toHaveLength(1);
  expect(lost.every(({ reason }) => reason instanceof ZonesTakenError)).toBe(true);
});

test("ZonesOwner.take() waits for a command to end", async () => {
  const folder = temporaryFolder();
  const command = await ZonesOwner.take(folder, { brief: true });
  let taken = false;
  const waiting = ZonesOwner.take(folder, keeping).then(() => (taken = true));
  await expect(Promise.race([waiting, delay(200, "waits")])).resolves.toBe("waits");
  command.release();
  await waiting;
  expect(taken).toBe(true);
});

test("release() takes away its own note, and no other's", async () => {
  const folder = temporaryFolder();
  const claim = await ZonesOwner.take(folder, keeping);
  claim.release();
  expect(existsSync(join(folder, "running.json"))).toBe(false);
  const next = await ZonesOwner.take(folder, keeping);
  claim.amend({ runtimeProcessId: 1 });
  claim.release();
  expect(findOwner(folder)).toMatchObject({ processId: process.pid });
  expect(readFileSync(join(folder, "running.json"), "utf8")).not.toContain("runtimeProcessId");
  next.release();
});

test("findOwner() believes no note of a process that is gone, or is another by now", () => {
  const folder = temporaryFolder();
  expect(findOwner(folder)).toBeNull();
  const note = { id: "x", processId: process.pid, processStart: processStart(process.pid) };
  leaveNote(folder, note);
  expect(findOwner(folder)).toMatchObject(note);
  leaveNote(folder, { ...note, processId: 2 ** 22 + 1 });
  expect(findOwner(folder)).toBeNull();
  // Where the system does not say, the number has to do.
  const isOther = note.processStart !== null;
  leaveNote(folder, { ...note, processStart: "1" });
  expect(findOwner(folder) === null).toBe(isOther);
});

test.each(["", "{", "null", "[]", '{"id":1}', '{"id":"x","processId":"1"}'])(
  "findOwner() reads no note in %j",
  (text) => {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "running.json"), text);
    expect(findOwner(folder)).toBeNull();
  },
);
