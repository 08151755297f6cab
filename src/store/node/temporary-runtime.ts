/**
 * A runtime without a script, only with the store and its endpoint. A process starts it when the
 * process has become the owner of the store and has no runtime that could open the databases.
 */
import type { Miniflare, MiniflareWorkerConfig } from "miniflare";
import type { FolderOwner } from "../../base/folder-owner.ts";
import { newRunId } from "../../base/run-records.ts";
import { acceptedConfig, loadMiniflare } from "../../base/miniflare.ts";
import { ownCompatibilityDate, pluginPath } from "../../base/runtime.ts";
import { offerOwner, withdrawOwner } from "./store-owner.ts";

export class TemporaryRuntime {
  readonly #miniflare: Miniflare;
  readonly #token: string;

  private constructor(miniflare: Miniflare, token: string) {
    this.#miniflare = miniflare;
    this.#token = token;
  }

  static async start(persistPath: string, owner: FolderOwner): Promise<TemporaryRuntime> {
    const token = newRunId();
    offerOwner(token, owner);
    // Loaded only here: loading Miniflare takes longer than most commands take with a running owner.
    const module = loadMiniflare();
    const { Log, LogLevel, Miniflare } = module;
    const miniflare = new Miniflare({
      resourcePersistencePath: persistPath,
      log: new Log(LogLevel.NONE),
      // The messages of the buckets' housekeeping are for dev servers.
      handleStructuredLogs() {},
      workers: [{ config: acceptedConfig(module, storeConfig(token)) }],
    });
    const runtime = new TemporaryRuntime(miniflare, token);
    try {
      await miniflare.ready;
    } catch (error) {
      await runtime.stop();
      throw error;
    }
    return runtime;
  }

  async stop(): Promise<void> {
    withdrawOwner(this.#token);
    await this.#miniflare.dispose();
  }
}

function storeConfig(ownerToken: string): MiniflareWorkerConfig {
  return {
    type: "worker",
    name: "ledge-store-owner",
    compatibilityDate: ownCompatibilityDate,
    manifest: {
      mainModule: "index.mjs",
      modules: { "index.mjs": { type: "esm", contents: "export default {};" } },
    },
    env: {
      CONTROL: {
        type: "unsafe:store_control",
        dev: {
          plugin: { package: pluginPath, name: "store" },
          options: { owner_token: ownerToken },
        },
      },
    },
  };
}
