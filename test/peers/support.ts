/** Shared by the tests with other name servers: our server, folders and free ports. */
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
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
 * A port that is free for TCP and UDP, and below the ephemeral ports: the system could give one of
 * those to a client before the server starts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const [tcp, udp] = [createServer(), createSocket("udp4")];
    try {
      await new Promise<void>((resolve, reject) => {
        tcp.once("error", reject).listen(port, "127.0.0.1", resolve);
      });
      await new Promise<void>((resolve, reject) => {
        udp.once("error", reject).bind({ port, address: "127.0.0.1", exclusive: true }, resolve);
      });
      return port;
    } catch {
      // The port is in use: try another.
    } finally {
      tcp.close();
      udp.close();
    }
  }
}

export async function startOurs(dns: Record<string, unknown>): Promise<RunningDns> {
  const folder = temporaryFolder();
  const configPath = join(folder, "wrangler.json");
  writeFileSync(configPath, JSON.stringify({ name: "dns", dns }));
  const running = await startDns({ configPath, port: 0, dnsPort: 0, log: () => {} });
  cleanUps.push(() => running.stop());
  return running;
}
