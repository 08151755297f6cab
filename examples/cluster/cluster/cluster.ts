/** The whole example: an S3 service, two runtimes with the same build, and a load balancer. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Balancer } from "./balancer.ts";
import { build, keys } from "./build.ts";
import type { Places } from "./places.ts";
import { Runtime } from "./runtime.ts";
import type { S3Service } from "./s3-service.ts";

export interface ClusterOptions {
  readonly places: Places;
  readonly service: S3Service;
  /** Holds the build and the spools. */
  readonly folder: string;
  /** Starts the load balancer before the runtimes with these origins. */
  readonly startBalancer: (origins: readonly string[]) => Promise<Balancer>;
  readonly log: (line: string) => void;
}

export interface Cluster {
  readonly balancer: Balancer;
  readonly runtimes: readonly Runtime[];
  stop(): Promise<void>;
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { places, service, folder, startBalancer, log } = options;
  mkdirSync(folder, { recursive: true });
  const { folder: made, workerdPath: workerd } = await build(service, join(folder, "build"));
  const runtimes = places.runtimes.map(
    (place) =>
      new Runtime({
        place,
        workerd,
        build: made,
        spool: join(folder, "spools", place.name),
        environment: keys(service),
        log: (line) => log(`${place.name}: ${line}`),
      }),
  );
  try {
    await Promise.all(runtimes.map((runtime) => runtime.start()));
    const balancer = await startBalancer(runtimes.map(({ origin }) => origin));
    return {
      balancer,
      runtimes,
      async stop() {
        await balancer.close();
        await Promise.all(runtimes.map((runtime) => runtime.kill()));
      },
    };
  } catch (error) {
    await Promise.all(runtimes.map((runtime) => runtime.kill()));
    throw error;
  }
}
