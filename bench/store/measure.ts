/**
 * How a row is measured: the sides take turns, round by round, each first in every other round;
 * each runs as many operations a turn as take a measurable time; the median of the rounds counts.
 */
import type { Row } from "./rows.ts";
import type { Message } from "./workload.ts";

export type SideName = "ours" | "r2" | "floor";

/** Runs what a message says: in workerd, or here. */
export interface Side {
  readonly name: SideName;
  send(message: Message): Promise<string>;
}

export interface Measured {
  readonly name: string;
  readonly target?: number;
  readonly rounds: number;
  /** Medians, in milliseconds an operation. */
  readonly milliseconds: Partial<Record<SideName, number>>;
}

export interface Effort {
  /**
   * How long a turn is, on every side. The request that carries it takes part of a millisecond,
   * so it is no more than a hundredth of what is shown.
   */
  readonly turnMilliseconds: number;
  /** How long a row goes on, once every side had its least rounds. */
  readonly rowMilliseconds: number;
  readonly roundsMin: number;
  readonly roundsMax: number;
  /** Of rows whose turns take seconds. */
  readonly longRoundsMin: number;
}

const calibrationsMax = 5;
/** How much longer the next attempt may be: a first one says little. */
const growthMax = 8;
/** Bodies that a turn needs at once. */
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
    // What is done once a turn takes long enough, and by then the runtime is warm.
    for (const turn of row.countMax === 1 ? [] : turns) await turn.calibrate(effort);
    const started = performance.now();
    let round = 0;
    for (; round < (row.roundsMax ?? effort.roundsMax); round++) {
      const enough = performance.now() - started > effort.rowMilliseconds;
      if (enough && round >= (row.long ? effort.longRoundsMin : effort.roundsMin)) break;
      for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn.take();
    }
    const seen = new Set<string>();
    for (const turn of turns) seen.add(await turn.verify());
    if (seen.size > 1) throw new Error(`The sides of "${row.name}" answer differently`);
    return {
      name: row.name,
      ...(row.target !== undefined && { target: row.target }),
      rounds: round,
      milliseconds: Object.fromEntries(turns.map(({ side, result }) => [side.name, result])),
    };
  } finally {
    for (const turn of row.keep ? [] : turns) await turn.clean();
  }
}

/** Where every operation is a request, the floor is a request that does nothing. */
function withEmptyRequests(sides: readonly Side[]): Side[] {
  const runtime = sides.find(({ name }) => name !== "floor") as Side;
  return sides.map((side) =>
    side.name === "floor"
      ? { ...side, send: (message) => runtime.send({ ...message, phase: "empty" }) }
      : side,
  );
}

/** One side of one row. */
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

  /** Runs to warm up, and until the operations of a turn take as long as a turn should. */
  async calibrate({ turnMilliseconds }: Effort): Promise<void> {
    const { task, countMax = 4096 } = this.#row;
    // Streams, ranges and listings make no bodies.
    const bodied = /put|delete/i.test(task.operation);
    const bodiesMax = bodied ? Math.floor(bodyBytesMax / task.size) : countMax;
    const most = Math.max(task.atOnce, Math.min(countMax, bodiesMax));
    for (let attempt = 0; attempt < calibrationsMax; attempt++) {
      const missing = turnMilliseconds / Math.max(await this.#once(), turnMilliseconds / growthMax);
      if (missing <= 1 || this.#count >= most) break;
      const turns = Math.ceil(Math.min(this.#count * missing, most) / task.atOnce);
      this.#count = turns * task.atOnce;
    }
  }

  async take(): Promise<void> {
    this.#runs.push((await this.#once()) / this.#count);
  }

  /** Milliseconds an operation. */
  get result(): number {
    return median(this.#runs);
  }

  /** Milliseconds that a turn takes. */
  async #once(): Promise<number> {
    await this.#send("prepare", this.#count);
    if (this.#row.requestEach) return this.#timeRequests();
    return time(() => this.#send("run", this.#count));
  }

  /** One operation a request: what the request costs is part of it. */
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
