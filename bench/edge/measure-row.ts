/**
 * The measurement of a row: the sides take turns, and their order alternates from round to round. A turn sends as many
 * requests as fill the same time on each side. The results are the medians of the rounds: the time of a request, and the
 * processor time that all processes of the server used for it.
 */
import { processorSeconds } from "../process-tree.ts";
import { ClosedConnectionError, HttpConnection } from "../s3/http-connection.ts";
import { atOnce } from "../s3/operations.ts";
import { median } from "../store/measure.ts";
import type { DevServer } from "./dev-server.ts";

/** A request that is sent again and again. */
export interface Side {
  readonly name: string;
  readonly server: DevServer;
  readonly host: string;
  readonly path: string;
}

export interface Row {
  readonly name: string;
  readonly requestsAtOnce: number;
  /** Of the body of a response. */
  readonly bytes: number;
  readonly sides: readonly Side[];
}

export interface Effort {
  readonly turnMilliseconds: number;
  readonly rounds: number;
}

export interface SideResult {
  readonly milliseconds: number;
  readonly processorMilliseconds: number;
}

/** Of the first requests, which also warm up the server. */
const calibrationMilliseconds = 100;
/** Responses are counted and thrown away: half of the client's processor time would be memory for their pieces. */
const memory = new Uint8Array(1024 * 1024);

export async function measureRow(row: Row, effort: Effort): Promise<Map<string, SideResult>> {
  const turns = row.sides.map((side) => new SideTurns(row, side));
  for (const turn of turns) await turn.calibrate(effort);
  for (let round = 0; round < effort.rounds; round++) {
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn.take();
  }
  for (const turn of turns) turn.close();
  return new Map(turns.map((turn) => [turn.side.name, turn.result]));
}

class SideTurns {
  readonly side: Side;
  readonly #row: Row;
  readonly #idle: HttpConnection[] = [];
  readonly #milliseconds: number[] = [];
  readonly #processorMilliseconds: number[] = [];
  #count: number;

  constructor(row: Row, side: Side) {
    this.side = side;
    this.#row = row;
    this.#count = row.requestsAtOnce;
  }

  get result(): SideResult {
    return {
      milliseconds: median(this.#milliseconds),
      processorMilliseconds: median(this.#processorMilliseconds),
    };
  }

  async calibrate({ turnMilliseconds }: Effort): Promise<void> {
    for (;;) {
      const milliseconds = await this.#turn();
      if (milliseconds > calibrationMilliseconds) {
        const wanted = Math.round((this.#count * turnMilliseconds) / milliseconds);
        this.#count = Math.max(this.#row.requestsAtOnce, wanted);
        return;
      }
      this.#count *= 4;
    }
  }

  async take(): Promise<void> {
    const { processId } = this.side.server;
    const before = processorSeconds(processId) ?? NaN;
    const milliseconds = await this.#turn();
    const used = (processorSeconds(processId) ?? NaN) - before;
    this.#milliseconds.push(milliseconds / this.#count);
    this.#processorMilliseconds.push((used * 1000) / this.#count);
  }

  close(): void {
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  async #turn(): Promise<number> {
    const start = performance.now();
    await atOnce(this.#row.requestsAtOnce, this.#count, () => this.#get());
    return performance.now() - start;
  }

  async #get(): Promise<void> {
    const { host, path, server } = this.side;
    const idle = this.#idle.pop();
    const connection = idle?.isOpen ? idle : new HttpConnection(server.port, memory);
    let received = 0;
    try {
      const { status } = await connection.send({
        head: `GET ${path} HTTP/1.1\r\nhost: ${host}:${server.port}\r\n\r\n`,
        receive: (piece) => void (received += piece.length),
      });
      if (status !== 200 || received !== this.#row.bytes) {
        throw new Error(`${this.side.name}: status ${status}, ${received} bytes`);
      }
      this.#idle.push(connection);
    } catch (error) {
      // The server closes idle connections after some seconds, and may do so during the request.
      if (!(error instanceof ClosedConnectionError) || connection !== idle) throw error;
      await this.#get();
    }
  }
}
