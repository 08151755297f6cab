/**
 * Starts the example until a signal ends it: ./start [--ceph] [--processes] [--port 8080]
 *
 * A runtime that ends is started again, as systemd does with `Restart=always`.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startBalancer } from "./cluster/balancer.ts";
import { startCluster } from "./cluster/cluster.ts";
import { hasHaproxy, startHaproxy } from "./cluster/haproxy.ts";
import { makePlaces } from "./cluster/places.ts";
import type { Runtime } from "./cluster/runtime.ts";
import { existingService, startCephService, startOwnService } from "./cluster/s3-service.ts";

const { values: options } = parseArgs({
  options: {
    ceph: { type: "boolean", default: false },
    processes: { type: "boolean", default: false },
    port: { type: "string", default: "8080" },
  },
});
const folder = join(import.meta.dirname, ".wrangler/cluster");
const port = Number(options.port);

/** Ends what was started, the last first. */
const ends: (() => Promise<void>)[] = [];
let isStopping = false;
const started = start();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // The second signal does not wait for a start that is under way.
    if (isStopping) process.exit(1);
    void stop(0);
  });
}
started.catch((error: unknown) => {
  console.error(sentenceOf(error as NodeJS.ErrnoException));
  if (!isStopping) void stop(1);
});

async function start(): Promise<void> {
  const places = makePlaces({ onlyProcesses: options.processes });
  process.on("exit", () => places.remove());
  const host = places.hostAddress;
  const service =
    existingService() ??
    (options.ceph
      ? await startCephService(host)
      : await startOwnService({ stateFolder: join(folder, "state"), host }));
  ends.push(() => service.stop());
  if (isStopping) return;

  const isHaproxy = hasHaproxy();
  const cluster = await startCluster({
    places,
    service,
    folder,
    startBalancer: (origins) =>
      isHaproxy ? startHaproxy(origins, port, folder) : startBalancer(origins, port),
    log: console.log,
  });
  ends.push(() => cluster.stop());
  if (isStopping) return;

  for (const runtime of cluster.runtimes) void keepRunning(runtime);
  const { origin } = cluster.balancer;
  const balancerName = isHaproxy
    ? "HAProxy"
    : "the balancer of the example: HAProxy is not installed";
  console.log(`S3 service     ${service.endpoint} (${service.description})`);
  console.log(`Runtimes       ${places.description}`);
  for (const runtime of cluster.runtimes) {
    console.log(`  ${runtime.name}       ${runtime.origin} (process ${runtime.processId})`);
  }
  console.log(`Load balancer  ${origin} (${balancerName})`);
  console.log(`\ncurl -X PUT --data 'buy milk' ${origin}/notes/today`);
  console.log(`curl ${origin}/notes/today\n`);
}

async function keepRunning(runtime: Runtime): Promise<void> {
  for (;;) {
    await runtime.ended();
    if (isStopping) return;
    console.log(`${runtime.name} has ended, and is started again.`);
    await delay(1_000);
    if (isStopping) return;
    try {
      await runtime.start();
      console.log(`${runtime.name} is back (process ${runtime.processId}).`);
    } catch (error) {
      console.error(String(error));
    }
  }
}

async function stop(code: number): Promise<void> {
  isStopping = true;
  await started.catch(() => {});
  for (const end of ends.toReversed()) await end();
  process.exit(code);
}

function sentenceOf({ code, message }: NodeJS.ErrnoException): string {
  if (code !== "EADDRINUSE") return message;
  return `Port ${port} is in use: end the other program, or choose a port with --port.`;
}
