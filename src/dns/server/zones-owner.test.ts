import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

test("ZonesOwner.take() makes one of many the owner", async () => {
  const folder = temporaryFolder();
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

test("findZonesOwner() believes no record whose process does not listen", async () => {
  const folder = temporaryFolder();
  expect(await findZonesOwner(folder)).toBeNull();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "owner.json"), JSON.stringify({ ...thisProcess(), isBrief: false }));
  expect(await findZonesOwner(folder)).toBeNull();
  const owner = await ZonesOwner.take(folder, server);
  expect(await findZonesOwner(folder)).toMatchObject({ processId: process.pid, isBrief: false });
  owner.release();
  expect(await findZonesOwner(folder)).toBeNull();
});
