/** Shared by the tests with other name servers: our server and folders. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { startDns, type RunningDns } from "../../dist/index.js";

/** Resources are closed in reverse order. */
const cleanUps: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "ledge-peers-"));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Changes arbitrary records to records that other servers accept: BIND refuses a zone with a NAPTR
 * record whose regular expression is invalid.
 */
export function acceptable(request: Record<string, unknown>): Record<string, unknown> {
  if (request["type"] !== "NAPTR") return request;
  const data = { ...(request["data"] as object), regex: "!^.*$!sip:info@example.org!" };
  return { ...request, data };
}

export async function startOurs(dns: Record<string, unknown>): Promise<RunningDns> {
  const folder = temporaryFolder();
  const configPath = join(folder, "wrangler.json");
  writeFileSync(configPath, JSON.stringify({ name: "dns", dns }));
  const running = await startDns({ configPath, port: 0, dnsPort: 0, log: () => {} });
  cleanUps.push(() => running.stop());
  return running;
}
