/** Calls of a bucket from Node, executed by another process (`programs/node-client.ts`). */
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { FaultProcess } from "./fault-process.ts";

export interface NodeCall {
  readonly id: number;
  readonly method: "get" | "put" | "delete";
  readonly key: string;
  /** In base64. */
  readonly body?: string;
  /** The etag that the object must have; `null`: the object must not exist. */
  readonly condition?: string | null;
}

export interface NodeResult {
  readonly id: number;
  readonly etag?: string | null;
  /** In base64. */
  readonly body?: string;
  readonly error?: string;
}

const program = fileURLToPath(new URL("programs/node-client.ts", import.meta.url));

export class NodeBucket {
  readonly process: FaultProcess;
  readonly #waiting = new Map<number, (result: NodeResult) => void>();
  #nextId = 0;

  private constructor(folder: string, before: readonly string[]) {
    this.process = new FaultProcess([...before, process.execPath, program, folder]);
    const lines = createInterface({ input: this.process.child.stdout as NodeJS.ReadableStream });
    lines.on("line", (line) => {
      if (!line.startsWith("{")) return;
      const result = JSON.parse(line) as NodeResult;
      this.#waiting.get(result.id)?.(result);
      this.#waiting.delete(result.id);
    });
    void this.process.exited.then(() => {
      for (const [id, settle] of this.#waiting) settle({ id, error: "the process has ended" });
      this.#waiting.clear();
    });
  }

  /** @param before a command that runs the program in its arguments */
  static async start(folder: string, before: readonly string[] = []): Promise<NodeBucket> {
    const bucket = new NodeBucket(folder, before);
    await bucket.process.waitForOutput(/^url node$/m);
    return bucket;
  }

  async call(call: Omit<NodeCall, "id">): Promise<NodeResult> {
    const id = this.#nextId++;
    const { promise, resolve } = Promise.withResolvers<NodeResult>();
    if (this.process.hasExited) throw new Error("the process has ended");
    this.#waiting.set(id, resolve);
    this.process.send(JSON.stringify({ id, ...call }));
    const result = await promise;
    if (result.error !== undefined) throw new Error(result.error);
    return result;
  }
}
