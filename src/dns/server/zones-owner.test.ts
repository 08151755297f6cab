import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { thisProcess } from "../../base/processes.ts";
import { findZonesOwner, ZonesOwner, ZonesTakenError } from "./zones-owner.ts";

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "ledge-zones-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "v3", "dns");
}

const server = { brief: false };

function writeRecord(folder: string, record: unknown): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "running.json"), JSON.stringify(record));
}

test("ZonesOwner.take() makes one of many the owner", async () => {
  const folder = temporaryFolder();
  writeRecord(folder, { id: "old", processId: 2 ** 22 + 1, processStart: null, brief: false });
  const takes = Array.from({ length: 20 }, () => ZonesOwner.take(folder, server));
  const results = await Promise.allSettled(takes);
  const won = results.filter(({ status }) => status === "fulfilled");
  const lost = results.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
  expect(won).toHaveLength(1);
  expect(lost.every(({ reason }) => reason instanceof ZonesTakenError)).toBe(true);
});

test("ZonesOwner.take() waits until a command has ended", async () => {
  const folder = temporaryFolder();
  const command = await ZonesOwner.take(folder, { brief: true });
  let taken = false;
  const waiting = ZonesOwner.take(folder, server).then(() => (taken = true));
  await expect(Promise.race([waiting, delay(200, "waits")])).resolves.toBe("waits");
  command.release();
  await waiting;
  expect(taken).toBe(true);
});

test("ZonesOwner.release() removes its own record, and not the record of another owner", async () => {
  const folder = temporaryFolder();
  const owner = await ZonesOwner.take(folder, server);
  owner.release();
  expect(existsSync(join(folder, "running.json"))).toBe(false);
  const next = await ZonesOwner.take(folder, server);
  owner.amend({ runtimeProcessId: 1 });
  owner.release();
  expect(findZonesOwner(folder)).toMatchObject({ processId: process.pid });
  expect(readFileSync(join(folder, "running.json"), "utf8")).not.toContain("runtimeProcessId");
  next.release();
});

test("findZonesOwner() ignores the record of a dead process, also when the id was used again", () => {
  const folder = temporaryFolder();
  expect(findZonesOwner(folder)).toBeNull();
  const record = { id: "x", ...thisProcess() };
  writeRecord(folder, record);
  expect(findZonesOwner(folder)).toMatchObject(record);
  writeRecord(folder, { ...record, processId: 2 ** 22 + 1 });
  expect(findZonesOwner(folder)).toBeNull();
  // Where the system does not tell the start of a process, the id decides.
  const tellsStart = record.processStart !== null;
  writeRecord(folder, { ...record, processStart: "1" });
  expect(findZonesOwner(folder) === null).toBe(tellsStart);
});

test.each(["", "{", "null", "[]", '{"id":1}', '{"id":"x","processId":"1"}'])(
  "findZonesOwner() finds no record in %j",
  (text) => {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "running.json"), text);
    expect(findZonesOwner(folder)).toBeNull();
  },
);
