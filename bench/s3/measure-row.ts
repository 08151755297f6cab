/**
 * The measurement of a row: the servers take turns, and their order alternates from round to round.
 * A turn runs as many operations as fill the same time on each server. The results are the medians
 * of the rounds: the time of an operation, and the processor time that the server's processes used
 * for it, which other work on the machine changes little.
 */
import { processorSeconds } from "../process-tree.ts";
import { median } from "../store/measure.ts";
import { atOnce } from "./operations.ts";
import type { S3Row } from "./rows.ts";
import type { S3LoadClient } from "./s3-load-client.ts";
import { serverNames, type ServerName, type ServerProcess } from "./server-process.ts";

export interface Contestant {
  readonly server: ServerProcess;
  readonly client: S3LoadClient;
}

export interface RowEffort {
  readonly turnMilliseconds: number;
  readonly rounds: number;
}

export interface RowResult {
  readonly milliseconds: number;
  /** Of the server's processes, for one operation. */
  readonly processorMilliseconds: number;
}

/** A server that cannot execute the operation has a reason in the place of its result. */
export type RowResults = Readonly<Record<ServerName, RowResult | string>>;

const notCompared = "";

/** Of the first operations, which also warm up the server. */
const calibrationMilliseconds = 40;

export async function measureRow(
  row: S3Row,
  contestants: readonly Contestant[],
  effort: RowEffort,
): Promise<RowResults> {
  const failures = new Map<ServerName, string>(serverNames.map((name) => [name, notCompared]));
  const turns: ServerTurns[] = [];
  for (const contestant of contestants) {
    if (contestant.server.name === "process" && row.comparesDurability !== true) {
      continue;
    }
    const turn = new ServerTurns(row, contestant);
    try {
      await turn.prepare(effort);
      turns.push(turn);
    } catch (error) {
      failures.set(contestant.server.name, (error as Error).message.slice(0, 100));
    }
  }
  for (let round = 0; round < effort.rounds; round++) {
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn.take();
  }
  const results = turns.map((turn) => [turn.name, turn.result] as const);
  return Object.fromEntries([...failures, ...results]) as RowResults;
}

class ServerTurns {
  readonly #row: S3Row;
  readonly #contestant: Contestant;
  readonly #milliseconds: number[] = [];
  #processorMilliseconds = 0;
  #operations = 0;
  #count: number;

  constructor(row: S3Row, contestant: Contestant) {
    this.#row = row;
    this.#contestant = contestant;
    this.#count = row.atOnce;
  }

  get name(): ServerName {
    return this.#contestant.server.name;
  }

  get result(): RowResult {
    return {
      milliseconds: median(this.#milliseconds),
      processorMilliseconds: this.#processorMilliseconds / this.#operations,
    };
  }

  async prepare({ turnMilliseconds }: RowEffort): Promise<void> {
    const { operation, countMax } = this.#row;
    const { client, server } = this.#contestant;
    await operation.prepare?.(client);
    for (;;) {
      const milliseconds = await this.#run();
      if (server.name !== "bare") await operation.verify?.(client);
      await operation.clean?.(client, this.#count);
      if (milliseconds > calibrationMilliseconds || this.#count >= countMax) {
        const wanted = Math.round((this.#count * turnMilliseconds) / milliseconds);
        this.#count = Math.min(countMax, Math.max(this.#row.atOnce, wanted));
        return;
      }
      this.#count = Math.min(countMax, this.#count * 4);
    }
  }

  async take(): Promise<void> {
    const { processId } = this.#contestant.server;
    const before = processorSeconds(processId) ?? NaN;
    const milliseconds = await this.#run();
    const used = (processorSeconds(processId) ?? NaN) - before;
    this.#milliseconds.push(milliseconds / this.#count);
    this.#processorMilliseconds += used * 1000;
    this.#operations += this.#count;
    await this.#row.operation.clean?.(this.#contestant.client, this.#count);
  }

  async #run(): Promise<number> {
    const { operation, atOnce: width } = this.#row;
    const start = performance.now();
    await atOnce(width, this.#count, (index) => operation.run(this.#contestant.client, index));
    return performance.now() - start;
  }
}
