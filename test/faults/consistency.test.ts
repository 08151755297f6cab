/**
 * Several scripts and processes call the same keys at the same time. Their history is linearizable,
 * without faults and while the owner of the folder is killed; and the checker refuses the same
 * history with one false answer.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { reportFigures } from "./support/figures.ts";
import { History, nodeBucket, scriptBucket } from "./support/history.ts";
import {
  describeContradiction,
  findContradiction,
  type Call,
  type Value,
} from "./support/linearizability.ts";
import { NodeBucket } from "./support/node-bucket.ts";
import { databaseOwners, OwnerMonitor } from "./support/open-databases.ts";
import { killProcesses } from "./support/process-table.ts";
import { isLong, SeededRandom } from "./support/seed.ts";
import { FaultProject, startMiniflare, type Tool } from "./support/tools.ts";
import { waitUntil } from "./support/wait.ts";

const callsPerClient = isLong ? 2000 : 60;
const kills = isLong ? 60 : 2;

function contradictionOf(history: readonly Call[]): string | null {
  const contradiction = findContradiction(history);
  return contradiction === null ? null : describeContradiction(contradiction);
}

/** Waits until each client has this many more answers. */
async function waitForAnswers(history: History, clients: string[], count: number): Promise<void> {
  const targets = clients.map((client) => history.answered(client) + count);
  await waitUntil(
    () => clients.every((client, index) => history.answered(client) >= (targets[index] as number)),
    () =>
      `answers: ${clients.map((client) => `${client} ${history.answered(client)}`).join(", ")}; ` +
      `last error: ${history.lastError?.message}`,
  );
}

describe("histories of three processes", { timeout: isLong ? 3_600_000 : 180_000 }, () => {
  /** Of the test without faults, for the tests that falsify it. */
  let recorded: Call[] = [];

  it("are linearizable", async () => {
    const random = new SeededRandom("consistency");
    const project = new FaultProject();
    const monitor = new OwnerMonitor(project.persistPath);
    const first = await startMiniflare(project.persistPath);
    const second = await startMiniflare(project.persistPath);
    const third = await NodeBucket.start(project.folder);
    const history = new History(random);
    // Two clients of one script: two requests that are in flight at the same time.
    history.start("first/1", scriptBucket(() => first.url));
    history.start("first/2", scriptBucket(() => first.url));
    history.start("second/1", scriptBucket(() => second.url));
    history.start("second/2", scriptBucket(() => second.url));
    history.start("node", nodeBucket(() => third));
    const clients = ["first/1", "first/2", "second/1", "second/2", "node"];
    await waitForAnswers(history, clients, callsPerClient);
    await history.stop();
    expect(history.wrong).toEqual([]);
    expect(history.lastError).toBeUndefined();
    expect(contradictionOf(history.calls)).toBeNull();
    expect(monitor.end()).toEqual([]);
    recorded = history.calls;
    reportFigures("consistency: without faults", { acknowledged: history.calls.length });
  });

  describe("falsified", () => {
    beforeAll(() => {
      expect(recorded.length).toBeGreaterThan(0);
      expect(findContradiction(recorded)).toBeNull();
    });

    /** Replaces one call. */
    const withChange = (call: Call, change: Partial<Call>): Call[] =>
      recorded.map((each) => (each === call ? ({ ...each, ...change } as Call) : each));

    it("are refused with a read of a value that was never written", () => {
      const read = recorded.find(({ method }) => method === "get") as Call;
      expect(findContradiction(withChange(read, { found: "0".repeat(32) }))).not.toBeNull();
    });

    it("are refused with a stale read", () => {
      const { read, old } = findStale(recorded);
      const contradiction = findContradiction(withChange(read, { found: old }));
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

  it("are linearizable while the owner's runtime and the owner's process are killed", async () => {
    const random = new SeededRandom("consistency under kills");
    const project = new FaultProject();
    const monitor = new OwnerMonitor(project.persistPath);
    const tools = new Map<string, Tool>();
    const start = async (name: string): Promise<void> => {
      tools.set(name, await startMiniflare(project.persistPath));
    };
    await start("first");
    await start("second");
    let third = await NodeBucket.start(project.folder);
    const history = new History(random);
    history.start("first", scriptBucket(() => tools.get("first")?.url as string));
    history.start("second", scriptBucket(() => tools.get("second")?.url as string));
    history.start("node", nodeBucket(() => third));
    const clients = ["first", "second", "node"];
    for (let kill = 0; kill < kills; kill++) {
      await waitForAnswers(history, clients, random.integer(3, 20));
      const [owner] = databaseOwners(project.persistPath, "store");
      const holds = ({ process }: { process: Tool["process"] }): boolean =>
        process.runtimes().some(({ processId }) => processId === owner?.processId);
      expect(owner).toBeDefined();
      if (kill % 2 === 0) {
        await killProcesses([owner!]);
      } else if (holds(third)) {
        await third.process.killAll();
        third = await NodeBucket.start(project.folder);
      } else {
        const [name, tool] = [...tools].find(([, each]) => holds(each)) as [string, Tool];
        await tool.process.killAll();
        await start(name);
      }
      // No client is started again, except the one that was killed.
      await waitForAnswers(history, clients, 3);
    }
    await history.stop();
    expect(history.wrong).toEqual([]);
    expect(contradictionOf(history.calls)).toBeNull();
    expect(monitor.end()).toEqual([]);
    reportFigures("consistency: under kills", { kills, acknowledged: history.calls.length });
  });
});

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
