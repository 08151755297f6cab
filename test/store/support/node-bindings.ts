/** The bindings of the conformance suite in Node: `mf.getBindings()`. */
import { Miniflare } from "miniflare";
import { afterAll } from "vitest";
import type { RemoteService } from "../../support/remote-bucket.ts";
import { plugin } from "../../support/worker.ts";
import { compatibilityDate, rawEnv } from "../conformance/bindings.ts";
import type { ConformanceEnv } from "../conformance/suite/subject.ts";

export interface NodeBindingsOptions {
  /** Without a folder, calls go through Miniflare's proxy. */
  readonly folder?: string;
  /** The service that has the buckets. Without it, they are local. */
  readonly service?: () => Promise<RemoteService>;
}

/** The bindings of a Miniflare that starts with the first call, and stops after the tests of the block. */
export function nodeBindings({
  folder,
  service,
}: NodeBindingsOptions): () => Promise<ConformanceEnv> {
  let miniflare: Miniflare | undefined;
  let environment: Promise<ConformanceEnv> | undefined;
  const start = async (): Promise<ConformanceEnv> => {
    const remote = await service?.();
    miniflare = new Miniflare({
      ...(folder !== undefined && { resourcePersistencePath: folder }),
      workers: [
        {
          config: {
            name: "conformance",
            compatibilityDate,
            manifest: {
              mainModule: "index.mjs",
              modules: { "index.mjs": { type: "esm", contents: "export default {};" } },
            },
            env: rawEnv(plugin, remote),
          },
        },
      ],
    });
    return miniflare.getBindings<ConformanceEnv & Record<string, unknown>>();
  };
  afterAll(() => miniflare?.dispose());
  return () => (environment ??= start());
}
