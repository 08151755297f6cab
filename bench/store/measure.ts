/**
 * The measurement of a row: the sides take turns, and their order alternates from round to round.
 * Each side runs enough operations in a turn for a measurable time. The result is the median of
 * the rounds.
 */
import type { Row } from "./rows.ts";
import type { Message } from "./workload.ts";

export type SideName = "ours" | "r2" | "floor";

/** Executes messages: in workerd, or in this process. */
export interface Side {
  readonly name: SideName;
  send(message: Message): Promise<string>;
}

export interface Measured {
  readonly name: string;
  readonly target?: number;
  readonly rounds: number;
  /** Medians, in milliseconds for one operation. */
  readonly milliseconds: Partial<Record<SideName, number>>;
}

export interface Effort {
  /**
   * The duration of a turn on every side. The request takes a fraction of a millisecond, which is
   * at most a hundredth of the turn.
   */
  readonly turnMilliseconds: number;
  /** The duration of a row, if it has had its minimum of rounds. */
  readonly rowMilliseconds: number;
  readonly roundsMin: number;
  readonly roundsMax: number;
  /** The minimum for rows whose turns take seconds. */
  readonly longRoundsMin: number;
}

const calibrationsMax = 5;
/** The largest growth from one attempt to the next: the first attempt is inaccurate. */
const growthMax = 8;
/** The most memory for the bodies of a turn. */
const bodyBytesMax = 64 * 1024 * 1024;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export async function measureRow(
  row: Row,
  sides: readonly Side[],
  effort: Effort,
): Promise<Measured> {
  const turns = (row.requestEach ? withEmptyRequests(sides) : sides).map(
    (side) => new Turn(row, side),
  );
  try {
    // A single operation that fills a turn needs no calibration, and the runtime is warm by then.
    for (const turn of row.countMax === 1 ? [] : turns) await turn.calibrate(effort);
    const started = performance.now();
    let round = 0;
    for (; round < (row.roundsMax ?? effort.roundsMax); round++) {
      const enough = performance.now() - started > effort.rowMilliseconds;
      if (enough && round >= (row.long ? effort.longRoundsMin : effort.roundsMin)) break;
      for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn.take();
    }
    const answers = new Set<string>();
    for (const turn of turns) answers.add(await turn.verify());
    if (answers.size > 1) throw new Error(`The sides of "${row.name}" return different results`);
    return {
      name: row.name,
      ...(row.target !== undefined && { target: row.target }),
      rounds: round,
      milliseconds: Object.fromEntries(turns.map(({ side, result }) => [side.name, result])),
    };
  } finally {
    for (const turn of row.keepsObjects ? [] : turns) await turn.clean();
  }
}

/** For rows with one request for each operation, the floor is an empty request. */
function withEmptyRequests(sides: readonly Side[]): Side[] {
  const runtime = sides.find(({ name }) => name !== "floor") as Side;
  return sides.map((side) =>
    side.name === "floor"
      ? { ...side, send: (message) => runtime.send({ ...message, phase: "empty" }) }
      : side,
  );
}

/** The turns of one side in one row. */
class Turn {
  readonly side: Side;
  readonly #row: Row;
  readonly #runs: number[] = [];
  #count: number;

  constructor(row: Row, side: Side) {
    this.#row = row;
    this.side = side;
    this.#count = row.task.atOnce;
  }

  /** Warms up, and finds the number of operations that fill a turn. */
  async calibrate({ turnMilliseconds }: Effort): Promise<void> {
    const { task, countMax = 4096 } = this.#row;
    // Streams, ranges and listings need no bodies.
    const needsBodies = /put|delete/i.test(task.operation);
    const bodiesMax = needsBodies ? Math.floor(bodyBytesMax / task.size) : countMax;
    const limit = Math.max(task.atOnce, Math.min(countMax, bodiesMax));
    for (let attempt = 0; attempt < calibrationsMax; attempt++) {
      const growth = turnMilliseconds / Math.max(await this.#once(), turnMilliseconds / growthMax);
      if (growth <= 1 || this.#count >= limit) break;
      const turns = Math.ceil(Math.min(this.#count * growth, limit) / task.atOnce);
      this.#count = turns * task.atOnce;
    }
  }

  async take(): Promise<void> {
    this.#runs.push((await this.#once()) / this.#count);
  }

  /** Milliseconds for one operation. */
  get result(): number {
    return median(this.#runs);
  }

  /** Runs one turn, and returns its milliseconds. */
  async #once(): Promise<number> {
    await this.#send("prepare", this.#count);
    if (this.#row.requestEach) return this.#timeRequests();
    return time(() => this.#send("run", this.#count));
  }

  /** One request for each operation: the time includes the request. */
  #timeRequests(): Promise<number> {
    const { atOnce } = this.#row.task;
    return time(async () => {
      for (let from = 0; from < this.#count; from += atOnce) {
        const turn = Array.from({ length: atOnce }, (_, index) =>
          this.#send("run", 1, from + index),
        );
        await Promise.all(turn);
      }
    });
  }

  verify(): Promise<string> {
    return this.#send("verify", 0);
  }

  async clean(): Promise<void> {
    await this.#send("clean", 0);
  }

  #send(phase: Message["phase"], count: number, from = 0): Promise<string> {
    const { task, bucket } = this.#row;
    return this.side.send({ phase, side: this.side.name, bucket, task, count, from });
  }
}

async function time(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}
