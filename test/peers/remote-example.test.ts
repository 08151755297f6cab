/**
 * The command of examples/cluster with Ceph: two runtimes, of which one is killed under load. No write
 * that was acknowledged is lost, and the end of the command leaves nothing.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject, it, onTestFinished, vi } from "vitest";
import { freePort } from "../support/free-port.ts";

const command = fileURLToPath(new URL("../../examples/cluster/start", import.meta.url));
const writers = 8;
const writesOfEach = 25;
/** Acknowledged writes before the runtime is killed. */
const before = 50;

it.skipIf(inject("ceph") === null)("loses no acknowledged write on Ceph", async () => {
  const example = await startExample();
  const { balancer, first, second } = example;
  const acknowledged = new Map<string, Buffer>();
  const failures: string[] = [];
  let sinceKill = 0;
  let isKilled = false;

  async function write(writer: number): Promise<void> {
    for (let index = 0; index < writesOfEach; index++) {
      const key = `${writer}-${index}`;
      // Some notes are so large that the runtime writes them to its spool first.
      const content = randomBytes(index % 12 === 0 ? 5_000_000 : 200);
      const put = async () => {
        const response = await fetch(`${balancer}/notes/${key}`, { method: "PUT", body: content });
        return { status: response.status, text: await response.text() };
      };
      // After 502, or an answer that breaks off, the write may have been executed. To write the same content again
      // does no harm.
      let answer = await put().catch(put);
      while (answer.status === 502) answer = await put().catch(put);
      if (answer.status < 300) {
        acknowledged.set(key, content);
        if (isKilled) sinceKill++;
      } else failures.push(`${key}: ${answer.status} ${answer.text}`);
      if (acknowledged.size >= before && !isKilled) {
        isKilled = true;
        process.kill(first.processId, "SIGKILL");
      }
    }
  }
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));

  expect(failures).toEqual([]);
  expect(acknowledged.size).toBe(writers * writesOfEach);
  expect(sinceKill).toBeGreaterThan(before);
  const back = await example.output(/^edge-1 is back \(process (\d+)\)\.$/m);
  expect(Number(back[1])).not.toBe(first.processId);
  for (const { origin } of [first, second])
    expect(await wrongNotes(origin, acknowledged)).toEqual([]);

  expect(example.remains().length).toBeGreaterThan(0);
  expect(await example.end()).toBe(0);
  expect(example.remains()).toEqual([]);
});

/** @returns the keys whose content is not the content that was acknowledged */
async function wrongNotes(
  origin: string,
  expected: ReadonlyMap<string, Buffer>,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const [key, content] of expected) {
    const response = await fetch(`${origin}/notes/${key}`);
    const read = Buffer.from(await response.arrayBuffer());
    if (!response.ok || !read.equals(content)) wrong.push(key);
  }
  return wrong;
}

async function startExample() {
  // Other clusters of this machine have their folders elsewhere.
  const temporary = mkdtempSync(join(tmpdir(), "ledge-example-"));
  const child = spawn(command, ["--ceph", "--port", String(await freePort())], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close") as Promise<[number | null]>;
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(temporary, { recursive: true, force: true });
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  }
  const output = (pattern: RegExp): Promise<RegExpExecArray> =>
    vi.waitFor(
      () => {
        const match = pattern.exec(text);
        if (match === null) throw new Error(`No output matches ${pattern}:\n${text}`);
        return match;
      },
      { timeout: 120_000, interval: 50 },
    );
  const balancer = await output(/^Load balancer {2}(\S+)/m);
  expect(text).toMatch(/^S3 service .*\(Ceph \d/m);
  const runtime = (name: string) => {
    const line = new RegExp(`^ {2}${name} +(\\S+) \\(process (\\d+)\\)$`, "m").exec(text);
    return { origin: line?.[1] as string, processId: Number(line?.[2]) };
  };
  const id = child.pid as number;
  const seen = new Set<string>();
  return {
    balancer: balancer[1] as string,
    first: runtime("edge-1"),
    second: runtime("edge-2"),
    output,
    async end(): Promise<number | null> {
      child.kill("SIGTERM");
      return (await ended)[0];
    },
    /** The processes, network namespaces, links, mounts and folders of this command. */
    remains(): string[] {
      for (const each of childrenOf(id)) seen.add(each);
      const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
      return [
        ...[...seen].filter(isRunning),
        ...readdirSync(temporary).filter((name) => name.startsWith("ledge-")),
        ...namesOf("/run/netns", id),
        ...namesOf("/sys/class/net", id),
        ...mounts.filter((line) => line.includes(`ledge-${id}`) || line.includes(temporary)),
      ];
    },
  };
}

/** The ids of the processes that the process has started, except those that have ended. */
function childrenOf(parent: number): string[] {
  return readdirSync("/proc").filter((id) => {
    try {
      return readFileSync(`/proc/${id}/status`, "utf8").includes(`\nPPid:\t${parent}\n`);
    } catch {
      // Not a process, or a process that has ended meanwhile.
      return false;
    }
  });
}

function isRunning(id: string): boolean {
  return existsSync(`/proc/${id}`);
}

/** The names that cluster/places.ts gives: `ledge-ID`, `ledge-ID-1`, `leIDv1`. */
function namesOf(folder: string, id: number): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => name.startsWith(`ledge-${id}`) || name.startsWith(`le${id}v`));
}
