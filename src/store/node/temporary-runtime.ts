/**
 * A runtime that a process starts when no other runs on the folder. It has no script, only the
 * store and its endpoint. It hands the folder over when another runtime starts
 * (`store-owner.ts`).
 */
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Miniflare } from "miniflare";
import { loadMiniflare, ownCompatibilityDate, pluginPath } from "../../base/runtime.ts";
import type { EndpointAddress } from "./store-owner.ts";

export class TemporaryRuntime {
  readonly #miniflare: Miniflare;
  readonly #handover: ReturnType<typeof createServer>;

  private constructor(miniflare: Miniflare, handover: ReturnType<typeof createServer>) {
    this.#miniflare = miniflare;
    this.#handover = handover;
  }

  /**
   * @param handOver called when another runtime asks for the folder; that runtime takes the folder
   *   when the promise resolves
   */
  static async start(
    persistPath: string,
    handOver: () => Promise<void>,
  ): Promise<TemporaryRuntime> {
    const secret = randomBytes(32).toString("base64url");
    const handover = createServer((request, response) => {
      if (request.headers.authorization !== `Bearer ${secret}`) response.writeHead(403).end();
      else void handOver().finally(() => response.end());
    });
    await new Promise<void>((resolve) => handover.listen(0, "127.0.0.1", resolve));
    handover.unref();
    const { port } = handover.address() as AddressInfo;
    // Loaded only here: loading Miniflare takes longer than most commands take with a running owner.
    const { Log, LogLevel, Miniflare } = loadMiniflare();
    const miniflare = new Miniflare({
      resourcePersistencePath: persistPath,
      log: new Log(LogLevel.NONE),
      // The messages of the buckets' housekeeping are for dev servers.
      handleStructuredLogs() {},
      workers: [storeWorker({ port, secret })],
    });
    const runtime = new TemporaryRuntime(miniflare, handover);
    try {
      await miniflare.ready;
    } catch (error) {
      await runtime.stop();
      throw error;
    }
    return runtime;
  }

  async stop(): Promise<void> {
    this.#handover.close();
    await this.#miniflare.dispose();
  }
}

function storeWorker(handover: EndpointAddress) {
  return {
    config: {
      type: "worker" as const,
      name: "ledge-store-command",
      compatibilityDate: ownCompatibilityDate,
      manifest: {
        mainModule: "index.mjs",
        modules: { "index.mjs": { type: "esm" as const, contents: "export default {};" } },
      },
      env: {
        CONTROL: {
          type: "unsafe:store_control" as const,
          dev: { plugin: { package: pluginPath, name: "store" }, options: { handover } },
        },
      },
    },
  };
}
