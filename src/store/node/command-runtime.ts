/**
 * A runtime for a command, when none is running on the folder: no script, only the store and its
 * endpoint. It makes way when a dev server comes (`store-owner.ts`).
 */
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Miniflare } from "miniflare";
import { loadMiniflare, ownCompatibilityDate, pluginPath } from "../../base/runtime.ts";
import type { EndpointAddress } from "./store-owner.ts";

export class OwnRuntime {
  readonly #miniflare: Miniflare;
  readonly #handover: ReturnType<typeof createServer>;

  private constructor(miniflare: Miniflare, handover: ReturnType<typeof createServer>) {
    this.#miniflare = miniflare;
    this.#handover = handover;
  }

  /**
   * @param makeWay called when another runtime wants the folder; it may have it when this resolves
   */
  static async start(persistPath: string, makeWay: () => Promise<void>): Promise<OwnRuntime> {
    const secret = randomBytes(32).toString("base64url");
    const handover = createServer((request, response) => {
      if (request.headers.authorization !== `Bearer ${secret}`) response.writeHead(403).end();
      else void makeWay().finally(() => response.end());
    });
    await new Promise<void>((resolve) => handover.listen(0, "127.0.0.1", resolve));
    handover.unref();
    const { port } = handover.address() as AddressInfo;
    // Loading it takes longer than most of what a command does through the endpoint of another.
    const { Log, LogLevel, Miniflare } = loadMiniflare();
    const miniflare = new Miniflare({
      resourcePersistencePath: persistPath,
      log: new Log(LogLevel.NONE),
      // What buckets log of their housekeeping is for dev servers.
      handleStructuredLogs() {},
      workers: [commandWorker({ port, secret })],
    });
    const runtime = new OwnRuntime(miniflare, handover);
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

function commandWorker(handover: EndpointAddress) {
  const plugin = { package: pluginPath, name: "store" };
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
          dev: { plugin, options: { handover } },
        },
      },
    },
  };
}
