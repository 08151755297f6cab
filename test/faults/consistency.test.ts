/**
 * Several scripts, processes and clients of S3 call the same keys at the same time. Their history is linearizable,
 * without faults and while the owner of the folder is killed; and the checker refuses the same
 * history with one false answer.
 */
import { describe, expect, it } from "vitest";
import {
  expectLinearizable,
  History,
  nodeBucket,
  scriptBucket,
  waitForAnswers,
} from "./support/history.ts";
import { findContradiction, type Call, type Value } from "./support/linearizability.ts";
import { NodeBucket } from "./support/node-bucket.ts";
import { databaseOwners, OwnerMonitor } from "./support/open-databases.ts";
import { killProcesses, markOf, type ProcessEntry } from "../support/processes.ts";
import { s3Bucket, startS3Endpoint, type S3Endpoint } from "./support/s3-endpoint.ts";
import { isLong, SeededRandom } from "./support/seed.ts";
import { FaultProject, startMiniflare, type Tool } from "./support/tools.ts";
import { waitUntil } from "./support/wait.ts";

const callsPerClient = isLong ? 2000 : 40;
const kills = isLong ? 60 : 2;

/** Four processes on one folder, and clients of each: scripts, Node, and the S3-compatible API. */
class Processes {
  readonly project = new FaultProject();
  readonly monitor = new OwnerMonitor(this.project.persistPath);
  readonly tools = new Map<string, Tool>();
  node: NodeBucket | undefined;
  s3: S3Endpoint | undefined;

  async start(name: string): Promise<void> {
    if (name === "s3") this.s3 = await startS3Endpoint(this.project);
    else if (name === "node") this.node = await NodeBucket.start(this.project.folder);
    else this.tools.set(name, await startMiniflare(this.project.persistPath));
  }

  /** @returns the names of the clients */
  startClients(history: History): string[] {
    for (const name of ["first", "second"]) {
      // Two requests are in flight at the same time.
      for (const client of [`${name}/1`, `${name}/2`]) {
        history.start(
          client,
          scriptBucket(() => this.tools.get(name)?.url as string),
        );
      }
    }
    history.start(
      "node",
      nodeBucket(() => this.node as NodeBucket),
    );
    history.start(
      "s3",
      s3Bucket(() => (this.s3 as S3Endpoint).client),
    );
    return ["first/1", "first/2", "second/1", "second/2", "node", "s3"];
  }

  /** Kills the runtime that has the databases open, or the whole process that started it. */
  async killOwner(mode: "runtime" | "process"): Promise<void> {
    let owner: ProcessEntry | undefined;
    await waitUntil(
      () => (owner = databaseOwners(this.project.persistPath, "store")[0]) !== undefined,
      () => "no process has the databases open",
    );
    if (mode === "runtime") return killProcesses([owner!]);
    const processes = [
      ...this.tools,
      ["node", this.node as NodeBucket] as const,
      ["s3", this.s3 as S3Endpoint] as const,
    ];
    const mark = markOf(owner!.processId);
    const [name, { process }] = processes.find(([, each]) => each.process.mark === mark)!;
    await process.killAll();
    await this.start(name);
  }
}

describe("histories of four processes", { timeout: isLong ? 3_600_000 : 180_000 }, () => {
  /** Of the part without faults, for the tests that falsify it. */
  let recorded: readonly Call[] = [];

  it("are linearizable, also while the owner's runtime and process are killed", async () => {
    const random = new SeededRandom("consistency");
    const processes = new Processes();
    for (const name of ["first", "second", "node", "s3"]) await processes.start(name);
    const calm = new History("calm", random);
    await waitForAnswers(calm, processes.startClients(calm), callsPerClient);
    await expectLinearizable(calm, "consistency: without faults");
    expect(calm.lastError).toBeUndefined();
    recorded = calm.calls;

    const history = new History("killed", random);
    const clients = processes.startClients(history);
    for (let kill = 0; kill < kills; kill++) {
      await waitForAnswers(history, clients, random.integer(3, 20));
      await processes.killOwner(kill % 2 === 0 ? "process" : "runtime");
      // Only the process that was killed is started again.
      await waitForAnswers(history, clients, 3);
    }
    await expectLinearizable(history, "consistency: under kills", kills);
    expect(processes.monitor.end()).toEqual([]);
  });

  describe("that are falsified", () => {
    it("are refused with a read of a value that was never written", () => {
      const read = recorded.find(({ method }) => method === "get") as Call;
      expect(
        findContradiction(withChange(recorded, read, { found: "0".repeat(32) })),
      ).not.toBeNull();
    });

    it("are refused with a stale read", () => {
      const { read, old } = findStale(recorded);
      const contradiction = findContradiction(withChange(recorded, read, { found: old }));
      expect(contradiction?.key).toBe(read.key);
    });

    it("are refused with a lost update: two conditional puts replace the same value", () => {
      const winner = recorded.find(
        (call) => call.method === "put" && call.applied === true && call.condition?.value,
      ) as Call;
      const second = { ...winner, client: "falsified", value: "f".repeat(32) } as Call;
      expect(findContradiction([...recorded, second])).not.toBeNull();
    });

    it("are refused without a put whose value was read", () => {
      const read = new Set(recorded.map((call) => (call.method === "get" ? call.found : null)));
      const put = recorded.find((call) => call.method === "put" && read.has(call.value)) as Call;
      expect(findContradiction(recorded.filter((call) => call !== put))).not.toBeNull();
    });
  });
});

/** The history with another answer to one call. */
function withChange(history: readonly Call[], call: Call, change: Partial<Call>): Call[] {
  return history.map((each) => (each === call ? ({ ...each, ...change } as Call) : each));
}

/** A read, and a value that was replaced before the read began. */
function findStale(history: readonly Call[]): { read: Call; old: Value } {
  const puts = history.filter((call) => call.method === "put" && call.applied === true);
  for (const read of history) {
    if (read.method !== "get") continue;
    const before = puts.filter((put) => put.key === read.key && put.end < read.start);
    for (const newer of before) {
      const older = before.find((put) => put.end < newer.start);
      if (older?.method === "put") return { read, old: older.value };
    }
  }
  throw new Error("The history has no read after two puts");
}
