/**
 * One process owns a folder, whatever happens to the processes and to the files that tell of them.
 * During each test, at most one process has a database of the folder open.
 */
import { createServer, type AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { FaultProcess } from "./support/fault-process.ts";
import { dateRecords, falsifyRecords } from "./support/folder-records.ts";
import { callHttp, callScript } from "./support/http-call.ts";
import { NodeBucket } from "./support/node-bucket.ts";
import { databaseOwners, OwnerMonitor } from "./support/open-databases.ts";
import { isSameProcessAlive, killProcesses, readProcess, signal } from "../support/processes.ts";
import { isLong, SeededRandom } from "./support/seed.ts";
import {
  FaultProject,
  ledgeProgram,
  prepareMiniflare,
  startLedgeDev,
  startMiniflare,
  startWrangler,
  type Tool,
} from "./support/tools.ts";
import { waitUntil } from "./support/wait.ts";

const timeout = isLong ? 1_800_000 : 180_000;

/** A project, with a monitor whose result the test must expect to be empty. */
function watchedProject(options?: { dns: boolean }): {
  project: FaultProject;
  monitor: OwnerMonitor;
} {
  const project = new FaultProject(options);
  return { project, monitor: new OwnerMonitor(project.persistPath) };
}

async function put({ url }: Pick<Tool, "url">, key: string, text: string): Promise<void> {
  await callScript(`${url}/${key}`, { method: "PUT", body: Buffer.from(text) });
}

async function get({ url }: Pick<Tool, "url">, key: string): Promise<string> {
  return (await callScript(`${url}/${key}`)).body.toString();
}

async function expectNoProcessLeft({ process }: Tool): Promise<void> {
  expect(await process.processesLeft()).toEqual([]);
}

describe("a runtime that a killed process left", { timeout }, () => {
  it("is ended by the next owner: stopped, in an endless loop, or just started", async () => {
    const random = new SeededRandom("orphans");
    const { project, monitor } = watchedProject();
    const first = await startMiniflare(project.persistPath);
    await put(first, "key", "first");
    const orphans = first.process.runtimes();
    for (const { processId } of orphans) signal(processId, "SIGSTOP");
    await first.process.killParent();

    const second = await startMiniflare(project.persistPath);
    expect(await get(second, "key")).toBe("first");
    await put(second, "key", "second");
    // A runtime that were only waited for would go on now, with a database of its own.
    for (const entry of orphans.filter(isSameProcessAlive)) signal(entry.processId, "SIGCONT");
    await expect(get(first, "key")).rejects.toThrow(/ECONNREFUSED|ECONNRESET|socket hang up/);
    await expectNoProcessLeft(first);
    const looping = callHttp(`${second.url}/?endless`).catch(() => null);
    const [runtime] = second.process.runtimes();
    await waitUntil(
      () => readProcess(runtime!.processId)?.state === "R",
      () => "the script does not loop",
    );
    await second.process.killParent();

    const killed = [second.process];
    for (let round = 0; round < (isLong ? 60 : 1); round++) {
      const starting = prepareMiniflare(project.persistPath);
      await starting.process.waitForOutput(/^loaded$/m);
      starting.process.send("start");
      await delay(random.integer(0, 700));
      await starting.process.killParent();
      killed.push(starting.process);
    }
    const last = await startMiniflare(project.persistPath);
    expect(await get(last, "key")).toBe("second");
    const left = await Promise.all(killed.map((process) => process.processesLeft()));
    expect(left.flat()).toEqual([]);
    await looping;
    expect(monitor.end()).toEqual([]);
  });
});

describe("an owner", { timeout }, () => {
  it("keeps the folder while it is stopped, and while a client cannot open files", async () => {
    const { project, monitor } = watchedProject();
    const owner = await startMiniflare(project.persistPath);
    await put(owner, "key", "owner");
    const [runtime] = databaseOwners(project.persistPath, "store");
    const stopped = owner.process.processes();
    for (const { processId } of stopped) signal(processId, "SIGSTOP");
    const client = await startMiniflare(project.persistPath);
    let isOver = false;
    const call = put(client, "key", "client").finally(() => (isOver = true));
    // The calls reach the stopped owner's socket, or wait for the owner's first answer.
    const command = new FaultProcess([ledgeProgram, "store", "list", "photos"], project);
    const [, waitedFor] = await command.waitForOutput(/Waiting for the answer of process (\d+),/);
    expect(waitedFor).toBe(String(owner.process.processId));
    expect(isOver).toBe(false);
    for (const { processId } of stopped) signal(processId, "SIGCONT");
    await call;
    expect(await command.exited).toBe(0);
    expect(await get(owner, "key")).toBe("client");

    const processes = client.process.processes();
    const limitFiles = async (limit: string): Promise<void> => {
      for (const { processId } of processes) {
        await new FaultProcess(["prlimit", `--pid=${processId}`, `--nofile=${limit}`]).exited;
      }
    };
    await limitFiles("5:1048576");
    await callHttp(`${client.url}/key`).catch(() => null);
    await limitFiles("1048576:1048576");
    await put(client, "key", "again");
    expect(await get(owner, "key")).toBe("again");

    const limits = isLong ? Array.from({ length: 40 }, (_, index) => 20 + index) : [];
    const limited: [line: string, limit: number][] = [
      ...limits.map((limit): [string, number] => ["start", limit]),
      ["start without descriptors", 300],
    ];
    await Promise.all(
      limited.map(async ([line, limit]) => {
        const before = ["sh", "-c", `ulimit -n ${limit} && exec "$@"`, "sh"];
        const { process } = prepareMiniflare(project.persistPath, { before });
        process.send(line);
        const started = process.waitForOutput(/^url (\S+?)\/?$/m);
        const failed = process.waitForOutput(/EMFILE|rror/);
        const outcome = Promise.race([started, failed, process.exited.then(() => null)]);
        const url = (await outcome.catch(() => null))?.[1];
        if (line !== "start") {
          await process.waitForOutput(/^no descriptors$/m);
          // The mark of the owner's runtime would stop the process, too, ten seconds later.
          await process.waitForOutput(/Cannot lock \S+store\/lock: unable to open database file/);
        }
        // Such a process fails, or is a client.
        if (url !== undefined) await put({ url }, "key", "limited").catch(() => {});
        await process.killAll();
      }),
    );
    expect(databaseOwners(project.persistPath, "store")).toMatchObject([
      { processId: runtime?.processId, start: runtime?.start },
    ]);
    expect(monitor.end()).toEqual([]);
  });

  it("ends no process that it started and that uses the folder as a client", async () => {
    const { project, monitor } = watchedProject();
    const owner = await startMiniflare(project.persistPath);
    await put(owner, "key", "owner");
    owner.process.send("spawn");
    const [, url] = await owner.process.waitForOutput(/^child url (\S+?)\/?$/m);
    const child: Tool = { name: "child", process: owner.process, url: url as string };
    await put(child, "child", "value");
    const [runtime] = databaseOwners(project.persistPath, "store");
    const others = owner.process
      .processes()
      .filter(
        ({ processId, parentId }) =>
          processId !== runtime?.processId &&
          parentId !== runtime?.processId &&
          processId !== owner.process.processId,
      );
    await owner.process.killParent();
    const next = await startMiniflare(project.persistPath);
    expect(await get(next, "child")).toBe("value");
    expect(await get(child, "key")).toBe("owner");
    expect(others.filter((entry) => !isSameProcessAlive(entry))).toEqual([]);
    expect(monitor.end()).toEqual([]);
  });
});

describe("records of a folder", { timeout }, () => {
  it("that name processes and ports of others, or other times, delay no start", async () => {
    const foreign = await startMiniflare(new FaultProject().persistPath);
    const [foreignRuntime] = foreign.process.runtimes();
    const server = createServer((connection) => connection.on("error", () => {}));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { project, monitor } = watchedProject();
    const { persistPath } = project;
    let tool = await startMiniflare(persistPath);
    await put(tool, "key", "value");
    const expectNextStart = async (): Promise<void> => {
      const last = tool;
      tool = await startMiniflare(persistPath);
      expect(await get(tool, "key")).toBe("value");
      await expectNoProcessLeft(last);
    };
    // The id of a runtime, of another program, and of the test.
    const ids = [foreignRuntime!.processId, foreign.process.processId, process.pid];
    for (const processId of isLong ? ids : ids.slice(0, 1)) {
      await tool.process.killAll();
      expect(falsifyRecords(persistPath, { processId, port })).toBeGreaterThan(0);
      await expectNextStart();
    }
    // The clock was set back, or forward.
    const days = 86_400_000;
    for (const offset of isLong ? [days, -400 * days] : [days]) {
      await tool.process.killParent();
      dateRecords(persistPath, new Date(Date.now() + offset));
      await expectNextStart();
    }
    expect(isSameProcessAlive(foreignRuntime!)).toBe(true);
    await put(foreign, "key", "value");
    expect(monitor.end()).toEqual([]);
  });
});

describe("processes that share a folder", { timeout }, () => {
  it("all start, when twelve runtimes of four processes start at once", async () => {
    const { project, monitor } = watchedProject();
    const prepared = Array.from({ length: 4 }, () => prepareMiniflare(project.persistPath));
    await Promise.all(prepared.map(({ process }) => process.waitForOutput(/^loaded$/m)));
    for (const { process } of prepared) {
      for (let count = 0; count < 3; count++) process.send("start another");
    }
    const started = await Promise.all(
      prepared.map(({ process }) => process.waitForOutput(/(^another \S+\n[^]*){3}/m)),
    );
    const urls = started.flatMap(([text]) =>
      Array.from(text.matchAll(/^another (\S+?)\/?$/gm), ([, url]) => url as string),
    );
    expect(urls).toHaveLength(12);
    await Promise.all(urls.map((url, index) => put({ url }, `key-${index}`, String(index))));
    const last = urls.length - 1;
    const read = urls.map((url, index) => get({ url }, `key-${last - index}`));
    expect(await Promise.all(read)).toEqual(urls.map((_, index) => String(last - index)));
    expect(monitor.end()).toEqual([]);
  });

  // The quick form starts the tools in a random order in `three-processes.test.ts`.
  it.each(isLong ? ["ledge dev", "wrangler dev"] : [])(
    "work together when %s starts first, and the other goes on after its end",
    async (name) => {
      const { project, monitor } = watchedProject();
      const starts =
        name === "ledge dev" ? [startLedgeDev, startWrangler] : [startWrangler, startLedgeDev];
      const [first, second] = [await starts[0]!(project), await starts[1]!(project)];
      await put(first, "first", "1");
      await put(second, "second", "2");
      expect(await get(second, "first")).toBe("1");
      expect(await get(first, "second")).toBe("2");
      await first.process.killParent();
      await put(second, "first", "3");
      expect(await get(second, "first")).toBe("3");
      await expectNoProcessLeft(first);
      expect(monitor.end()).toEqual([]);
    },
  );
});

describe("a process in another network namespace", { timeout }, () => {
  it("is a client of the owner", async ({ skip }) => {
    const enter = ["unshare", "-rn", "--", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
    const probe = new FaultProcess([...enter, "true"]);
    if ((await probe.exited) !== 0) skip("This machine does not allow network namespaces.");
    const { project, monitor } = watchedProject();
    const owner = await startMiniflare(project.persistPath);
    await put(owner, "key", "owner");
    const bucket = await NodeBucket.start(project.folder, enter);
    expect(await bucket.call({ method: "get", key: "key" })).toMatchObject({
      body: Buffer.from("owner").toString("base64"),
    });
    const body = Buffer.from("other namespace").toString("base64");
    await bucket.call({ method: "put", key: "key", body });
    expect(await get(owner, "key")).toBe("other namespace");
    // The client becomes the owner when the owner ends.
    await killProcesses(owner.process.processes());
    await bucket.call({ method: "put", key: "later", body });
    expect(monitor.end()).toEqual([]);
  });
});
