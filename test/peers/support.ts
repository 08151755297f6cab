/** What tests with other name servers share: ours, folders and free ports. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { startDns, type RunningDns } from "../../dist/index.js";

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "ledge-peers-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Free at this moment; the servers here are the only ones that ask. */
export async function freePort(): Promise<number> {
  const socket = createSocket("udp4");
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  socket.close();
  return port;
}

export async function startOurs(dns: Record<string, unknown>): Promise<RunningDns> {
  const folder = temporaryFolder();
  const configPath = join(folder, "wrangler.json");
  writeFileSync(configPath, JSON.stringify({ name: "dns", dns }));
  const running = await startDns({ configPath, port: 0, dnsPort: 0, log: () => {} });
  onTestFinished(() => running.stop());
  return running;
}
