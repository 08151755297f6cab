/**
 * The measurement of a row: the sides take turns, and their order alternates from round to round. A turn runs as many
 * operations as fill the same time on each side. The result is the median of the rounds.
 */
import { median } from "../store/measure.ts";
import type { Row } from "./rows.ts";
import type { Side, SideName } from "./sides.ts";
import type { Message } from "./workload.ts";

export interface Effort {
  readonly turnMilliseconds: number;
  readonly rounds: number;
}

/** Of the first operations, which also warm up the side. */
const calibrationMilliseconds = 100;

/** @returns milliseconds for one operation, by side */
export async function measureRow(
  row: Row,
  sides: readonly Side[],
  effort: Effort,
): Promise<Readonly<Record<SideName, number>>> {
  const turns = sides.map((side) => new SideTurns(row, side));
  for (const turn of turns) await turn.calibrate(effort);
  for (let round = 0; round < effort.rounds; round++) {
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn.take();
  }
  const results = turns.map((turn) => [turn.side.name, turn.result] as const);
  return Object.fromEntries(results) as Record<SideName, number>;
}

class SideTurns {
  readonly side: Side;
  readonly #row: Row;
  readonly #milliseconds: number[] = [];
  #count: number;

  constructor(row: Row, side: Side) {
    this.#row = row;
    this.side = side;
    this.#count = row.atOnce;
  }

  get result(): number {
    return median(this.#milliseconds);
  }

  async calibrate({ turnMilliseconds }: Effort): Promise<void> {
    const { countMax, atOnce } = this.#row;
    for (;;) {
      const milliseconds = await this.#turn();
      if (milliseconds > calibrationMilliseconds || this.#count >= countMax) {
        const wanted = Math.round((this.#count * turnMilliseconds) / milliseconds);
        this.#count = Math.min(countMax, Math.max(atOnce, wanted));
        return;
      }
      this.#count = Math.min(countMax, this.#count * 4);
    }
  }

  async take(): Promise<void> {
    this.#milliseconds.push((await this.#turn()) / this.#count);
  }

  async #turn(): Promise<number> {
    await this.#ask("prepare");
    const start = performance.now();
    await (this.#row.isRequestEach ? this.#askEach() : this.#ask("run"));
    const milliseconds = performance.now() - start;
    await this.#ask("clean");
    return milliseconds;
  }

  async #askEach(): Promise<void> {
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < this.#count) await this.#ask("run", next++, 1);
    };
    await Promise.all(Array.from({ length: this.#row.atOnce }, work));
  }

  #ask(phase: Message["phase"], from = 0, count = this.#count): Promise<void> {
    const { atOnce } = this.#row;
    const { name } = this.side;
    const operation = this.#row.operation[name];
    return this.side.ask({ phase, operation, prefix: `${name}/`, from, count, atOnce });
  }
}

/** Operations of all processes of a side together in a second. */
export async function measureThroughput(
  sides: readonly Side[],
  operation: Message["operation"],
  { turnMilliseconds, rounds }: Effort,
): Promise<number> {
  const atOnce = 32;
  const messageOf = (index: number, phase: Message["phase"], count: number): Message => {
    return { phase, operation, prefix: `throughput/${index}/`, from: 0, count, atOnce };
  };
  const askAll = (phase: Message["phase"], count: number): Promise<unknown> =>
    Promise.all(sides.map((side, index) => side.ask(messageOf(index, phase, count))));
  let count = 512;
  const results: number[] = [];
  for (let round = -1; round < rounds; round++) {
    await askAll("prepare", count);
    const start = performance.now();
    await askAll("run", count);
    const milliseconds = performance.now() - start;
    await askAll("clean", count);
    // The first round warms up, and finds the number of operations that fill the time.
    if (round >= 0) results.push((sides.length * count * 1000) / milliseconds);
    else count = Math.max(atOnce, Math.round((count * turnMilliseconds) / milliseconds));
  }
  return median(results);
}
