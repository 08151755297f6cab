/**
 * Queries per second by dnsperf: our server, other name servers, and
 * an echo in Node as a lower bound; and, with a signed zone and DO, our server, Knot and BIND. All
 * servers have the same zone and run at the same time. The load visits them in turn, in rounds, so
 * that other work of the machine affects all of them. The results are the median of the rounds, and
 * the processor time of an answer, which depends less on other work.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { peers, signedPeers } from "../test/peers/servers/name-servers.ts";
import { isInstalled, type RunningPeer } from "../test/peers/servers/peer.ts";
import { absentQueries, queries, zoneName } from "./dns/bench-zone.ts";
import { echo, startOurs } from "./dns/contestants.ts";
import { runDnsperf, type LoadResult } from "./dns/dnsperf.ts";
import { processorSeconds } from "./process-tree.ts";
import { median } from "./store/measure.ts";

const { values: options } = parseArgs({
  options: {
    records: { type: "string", default: "10000" },
    seconds: { type: "string", default: "2" },
    rounds: { type: "string", default: "5" },
    transport: { type: "string", default: "udp" },
    only: { type: "string", default: "" },
  },
});
const size = Number(options.records);
const seconds = Number(options.seconds);
const transport = options.transport === "tcp" ? "tcp" : "udp";
const absentCount = 200_000;
/** Outside the range of ephemeral ports. */
const firstPort = 61_100;

interface Contestant {
  readonly name: string;
  readonly server: RunningPeer;
  /** Of a file. */
  readonly queries: string;
  /** The queries set DO. */
  readonly dnssecOk: boolean;
  readonly rounds: (LoadResult & { readonly processorMicroseconds: number | null })[];
}

function isWanted(name: string): boolean {
  return options.only === "" || options.only.split(",").some((part) => name.includes(part));
}

/** BIND answers before it has signed the zone. */
async function untilSigned(port: number): Promise<void> {
  const words = `@127.0.0.1 -p ${port} +dnssec host-0.${zoneName} A`;
  for (let attempt = 0; attempt < 300; attempt++) {
    if (/\sRRSIG\s/.test(execFileSync("dig", words.split(" "), { encoding: "utf8" }))) return;
    await delay(100);
  }
  throw new Error(`The server on port ${port} does not sign the zone.`);
}

try {
  execFileSync("which", ["dnsperf"], { stdio: "ignore" });
} catch {
  console.log("dnsperf is not installed, so queries are not measured: apt-get install dnsperf");
  process.exit(0);
}

const folder = mkdtempSync(join(tmpdir(), "ledge-dns-bench-"));
const contestants: Contestant[] = [];
try {
  const queryFile = join(folder, "queries");
  writeFileSync(queryFile, `${queries(size).join("\n")}\n`);
  const absentFile = join(folder, "absent-queries");
  writeFileSync(absentFile, `${absentQueries(absentCount).join("\n")}\n`);
  const file = join(folder, "zone");
  let port = firstPort;
  const place = (name: string) => {
    const own = join(folder, name.replaceAll(" ", "-"));
    mkdirSync(own);
    return { folder: own, port: port++ };
  };

  const ours = await startOurs(place("ours"), { size });
  writeFileSync(file, ours.zoneFile);
  contestants.push({
    name: "ours",
    server: ours,
    queries: queryFile,
    dnssecOk: false,
    rounds: [],
  });
  const addSigned = (name: string, server: RunningPeer): void => {
    const shared = { server, dnssecOk: true };
    contestants.push({ ...shared, name, queries: queryFile, rounds: [] });
    const absent = `${name}, absent names`;
    contestants.push({ ...shared, name: absent, queries: absentFile, rounds: [] });
  };
  if (isWanted("ours, signed")) {
    const server = await startOurs(place("ours, signed"), { size, isSigned: true });
    addSigned("ours, signed", server);
  }
  for (const peer of signedPeers) {
    if (!isWanted(peer.name) || !isInstalled(peer)) continue;
    const server = await peer.start({ name: zoneName, file }, place(peer.name));
    await untilSigned(server.port);
    addSigned(peer.name, server);
  }
  for (const peer of [echo, ...peers]) {
    if (!isWanted(peer.name) || (peer === echo && transport === "tcp")) continue;
    if (isInstalled(peer)) {
      const server = await peer.start({ name: zoneName, file }, place(peer.name));
      const { name } = peer;
      contestants.push({ name, server, queries: queryFile, dnssecOk: false, rounds: [] });
    } else {
      console.log(`${peer.name} is not installed, and is left out: ${peer.programs.join(", ")}`);
    }
  }

  for (let round = 0; round <= Number(options.rounds); round++) {
    for (const { server, queries: asked, dnssecOk, rounds } of contestants) {
      const before = processorSeconds(server.processId);
      const result = await runDnsperf({
        port: server.port,
        queries: asked,
        seconds,
        transport,
        dnssecOk,
      });
      const after = processorSeconds(server.processId);
      const used = before === null || after === null ? null : after - before;
      const processorMicroseconds = used === null ? null : (used * 1e6) / result.completed;
      // The first round is a warm-up.
      if (round > 0) rounds.push({ ...result, processorMicroseconds });
    }
  }

  const rate = ({ rounds }: Contestant) => median(rounds.map((one) => one.queriesPerSecond));
  const floor = contestants.find(({ name }) => name === echo.name);
  console.table(
    contestants.map((contestant) => {
      const { name, rounds } = contestant;
      const ratios = rounds.map(
        ({ queriesPerSecond }, at) =>
          queriesPerSecond / (floor?.rounds[at]?.queriesPerSecond ?? NaN),
      );
      return {
        server: name,
        "queries a second": Math.round(rate(contestant)),
        "of the echo": floor === undefined ? "" : median(ratios).toFixed(2),
        "processor µs each": median(rounds.map((one) => one.processorMicroseconds ?? NaN)).toFixed(
          1,
        ),
        lost: rounds.reduce((sum, { lost }) => sum + lost, 0),
      };
    }),
  );
} finally {
  const servers = new Set(contestants.map(({ server }) => server));
  await Promise.all(Array.from(servers, (server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
}
