/**
 * The power is lost while scripts, the S3-compatible API and the command line write. Afterwards every
 * acknowledged write is there, of values in the database and of values in files, and so is the value
 * before a write that was not acknowledged.
 *
 * `LEDGE_CUTS` says how often the power is lost.
 */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { s3ClientOf } from "../s3/support/served-s3.ts";
import { FaultProcess } from "./support/fault-process.ts";
import { addFigures, noFigures, reportFigures, type Figures } from "./support/figures.ts";
import { PowerDevice, powerProblem } from "./support/power-device.ts";
import { throughS3, type S3Endpoint } from "./support/s3-endpoint.ts";
import { isLong, SeededRandom } from "./support/seed.ts";
import { FaultProject, ledgeProgram, startMiniflare, type Tool } from "./support/tools.ts";
import { verifyWrites } from "./support/verify-writes.ts";
import { waitUntil } from "./support/wait.ts";
import { throughScript, Writer, type Execute } from "./support/writer.ts";

const cuts = Number(process.env["LEDGE_CUTS"] ?? (isLong ? 30 : 2));
/** Of each writer, before the power is lost. */
const writes = { script: 6, s3: 6, command: 2 };
/** A value in the database, and two in files. */
const sizes = [1024, 300_000, 1024 * 1024];

type Way = keyof typeof writes;

/** The tools on a device, and writers that use them. */
class PoweredStore {
  readonly project: FaultProject;
  readonly device: PowerDevice;
  readonly writers: { readonly way: Way; readonly writer: Writer }[];
  /** Is `null` while `ledge s3` owns the folder alone. */
  script: Tool | null = null;
  #s3: S3Endpoint | undefined;
  /** The last command. */
  #running: FaultProcess | undefined;

  private constructor(project: FaultProject, device: PowerDevice, random: SeededRandom) {
    this.project = project;
    this.device = device;
    const ways: Record<Way, Execute> = {
      script: throughScript(() => (this.script as Tool).url),
      s3: throughS3(async () => (this.#s3 as S3Endpoint).client),
      command: (write) => this.#command(write),
    };
    this.writers = (["script", "script", "s3", "s3", "command"] as const).map((way, index) => ({
      way,
      writer: new Writer(`${way}${index}`, random, ways[way], sizes),
    }));
  }

  static async start(random: SeededRandom): Promise<PoweredStore> {
    const project = new FaultProject();
    const device = await PowerDevice.mount(join(project.folder, ".wrangler"));
    return new PoweredStore(project, device, random);
  }

  async startScript(): Promise<Tool> {
    const { project, device } = this;
    return (this.script = await startMiniflare(project.persistPath, { before: device.before }));
  }

  async startS3(): Promise<void> {
    const { folder } = this.project;
    const words = this.device.command(folder, [process.execPath, ledgeProgram, "s3", "--port=0"]);
    const child = new FaultProcess(words);
    this.#s3 = { process: child, client: await s3ClientOf(child) };
  }

  /** Ends all tools by a kill. */
  async killAll(): Promise<void> {
    const processes = [this.#s3?.process, this.script?.process, this.#running];
    await Promise.all(processes.map(async (each) => each?.killAll()));
    this.#s3 = undefined;
    this.script = null;
  }

  /** Runs one command, which asks the owner. */
  async #command({ method, key, body = new Uint8Array() }: Parameters<Execute>[0]) {
    if (method === "abort") return null;
    const { folder } = this.project;
    const file = join(folder, "value");
    writeFileSync(file, body);
    const words =
      method === "delete" ? ["delete", `photos/${key}`] : ["put", `photos/${key}`, file];
    const command = [process.execPath, ledgeProgram, "store", ...words];
    this.#running = new FaultProcess(this.device.command(folder, command));
    const { exited } = this.#running;
    if ((await exited) !== 0) throw new Error(`ledge store ${method}: ${this.#running.output}`);
    return method === "delete" ? null : createHash("md5").update(body).digest("hex");
  }
}

describe("a loss of power", () => {
  it(
    "loses no acknowledged write, whichever tool has written",
    async ({ skip }) => {
      const problem = powerProblem();
      if (problem !== null) skip(`no device can be cut: ${problem}`);
      const random = new SeededRandom("power");
      const store = await PoweredStore.start(random);
      const figures = new Map<Way, Figures>();
      for (let cut = 1; cut <= cuts; cut++) {
        // The owner is the process of the S3-compatible API, or Miniflare with the script that has
        // verified the last cut.
        const isScriptOwner = cut % 2 === 0;
        if (!isScriptOwner) await store.killAll();
        await store.startS3();
        const active = store.writers.filter(({ way }) => isScriptOwner || way !== "script");
        const targets = active.map(({ way, writer }) => writer.acknowledged + writes[way]);
        const before = active.map(({ writer }) => writer.acknowledged);
        for (const { writer } of active) writer.start({ failuresMax: 3 });
        await waitUntil(
          () =>
            active.every(({ writer }, index) => writer.acknowledged >= (targets[index] as number)),
          () => `no writes: ${String(active.map(({ writer }) => writer.lastError?.message))}`,
        );
        const stopped = active.map(({ writer }) => writer.stop({ isPowerLost: true }));
        store.device.cut();
        await store.killAll();
        await Promise.all(stopped);
        store.device.restore();
        const { url } = await store.startScript();
        const writers = store.writers.map(({ writer }) => writer);
        const found = await verifyWrites(
          url,
          store.device.outside(store.project.persistPath),
          writers,
        );
        for (const [index, { way, writer }] of active.entries()) {
          const total = figures.get(way) ?? noFigures();
          figures.set(way, total);
          const of = (kind: string): number =>
            found.problems.filter((line) => line.startsWith(`${kind}: ${writer.name}/`)).length;
          addFigures(total, {
            acknowledged: writer.acknowledged - (before[index] as number),
            lost: of("lost"),
            wrong: of("wrong"),
          });
        }
        expect.soft(found.problems, `cut ${cut}`).toEqual([]);
      }
      for (const [way, total] of figures) reportFigures(`power: ${way}`, { ...total, kills: cuts });
      console.log(`power: ${cuts} cuts`, Object.fromEntries(figures));
    },
    120_000 + cuts * 30_000,
  );
});
