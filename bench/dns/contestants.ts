/** The benchmarked servers: ours, other name servers, and the echo as a lower bound. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client } from "../../test/dns/support/client.ts";
import {
  startProcess,
  untilAnswering,
  type Peer,
  type PeerPlace,
  type RunningPeer,
} from "../../test/peers/servers/peer.ts";
import { records, zoneName } from "./bench-zone.ts";

/** The API's limit of a batch. */
const batch = 3500;

function program(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** The echo serves no zone. */
export const echo: Peer = {
  name: "bare Node UDP echo",
  programs: [],
  start: (_zone, place) =>
    startProcess([process.execPath, program("./echo.ts"), String(place.port)], {
      ...place,
      zoneName,
    }),
};

/** Our server in a process, and the URL of its API. */
export async function runOurs({
  folder,
  port,
}: PeerPlace): Promise<RunningPeer & { readonly url: string }> {
  const args = [program("./ours.ts"), folder, String(port)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
  };
  try {
    const [url] = (await Promise.race([
      once(child.stdout, "data"),
      ended.then(() => Promise.reject(new Error("Our server ended before it answered."))),
    ])) as [Buffer];
    return { port, processId: child.pid!, stop, url: url.toString().trim() };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Our server is filled through its API; its export fills the others. */
export async function startOurs(
  place: PeerPlace,
  { size, isSigned = false }: { readonly size: number; readonly isSigned?: boolean },
): Promise<RunningPeer & { readonly zoneFile: string }> {
  const server = await runOurs(place);
  try {
    const client = new Client(server.url);
    const zoneId = await client.createZone(zoneName);
    const all = records(size);
    for (let from = 0; from < all.length; from += batch) {
      const posts = all.slice(from, from + batch);
      await client.ok("POST", `/zones/${zoneId}/dns_records/batch`, { posts });
    }
    if (isSigned) await client.ok("PATCH", `/zones/${zoneId}/dnssec`, { status: "active" });
    await untilAnswering(place.port, zoneName);
    return { ...server, zoneFile: await client.exportFile(zoneId) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
