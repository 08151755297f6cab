/**
 * The suites of the store on buckets of Ceph: conformance in workerd and in Node, model properties, the comparison with
 * R2, and two runtimes while runtimes, the gateway and the storage daemon are killed.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { createHttpTransport } from "../../src/store/node/http-transport.ts";
import { S3Connection } from "../../src/store/remote/s3-connection.ts";
import { expectLinearizable, History, waitForAnswers } from "../faults/support/history.ts";
import { remoteFaultSuite, TwoRuntimes } from "../faults/support/remote-faults.ts";
import { SeededRandom } from "../faults/support/seed.ts";
import { bucketSuite } from "../store/conformance/suite/index.ts";
import { deviationsOn } from "../store/remote.expectations.ts";
import { nodeBindings } from "../store/support/node-bindings.ts";
import { remoteModelSuites } from "../store/support/remote-model.ts";
import { remoteBuckets, type RemoteService } from "../support/remote-bucket.ts";
import { startCeph } from "./ceph/cluster.ts";

const ceph = inject("ceph");

describe.runIf(ceph !== null)("Ceph", () => {
  const folder = mkdtempSync(join(tmpdir(), "ledge-conformance-"));
  const service = { name: "ceph", ...ceph } as RemoteService;
  const provide = (): Promise<RemoteService> => Promise.resolve(service);
  beforeAll(() => createBuckets(service));
  afterAll(() => rmSync(folder, { recursive: true }));

  bucketSuite({
    name: "remote, in Node",
    runtime: "node",
    environment: nodeBindings({ folder, service: provide }),
    deviations: deviationsOn("ceph"),
  });

  it("passes the conformance suite in workerd", { timeout: 900_000 }, async () => {
    const root = fileURLToPath(new URL("../..", import.meta.url));
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const child = spawn(process.execPath, [vitest, "run", "--project", "conformance-remote"], {
      cwd: root,
      env: { ...process.env, LEDGE_REMOTE_SERVICE: JSON.stringify(service) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill());
    const exited = new Promise<number | null>((resolve) => void child.once("exit", resolve));
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if ((await exited) !== 0) throw new Error(output.slice(-20_000) + errors);
    expect(output).toContain("passed");
  });

  remoteModelSuites({
    serviceName: "ceph",
    service: provide,
    runs: { properties: { few: 5, all: 30 }, differential: { few: 4, all: 15 } },
  });

  remoteFaultSuite("Ceph", provide);

  it("loses no write while the gateway and the storage daemon are killed", async () => {
    const cluster = await startCeph();
    onTestFinished(() => cluster.stop());
    await cluster.createBucket("faults");
    const random = new SeededRandom("ceph");
    const runtimes = new TwoRuntimes(cluster);
    await runtimes.start();
    // As through the faulty proxy, answers get lost.
    const history = new History("ceph", random, { hasDeletes: false });
    const clients = runtimes.startClients(history);
    for (let round = 0; round < 2; round++) {
      await waitForAnswers(history, clients, 5);
      await cluster.killGateway();
      await cluster.restartGateway();
      await waitForAnswers(history, clients, 5);
      await cluster.killOsd();
      await cluster.restartOsd();
    }
    await waitForAnswers(history, clients, 5);
    await expectLinearizable(history, "remote: Ceph, kills of the gateway and the storage daemon");
    expect(history.calls.length).toBeGreaterThan(100);
  });
});

async function createBuckets(service: RemoteService): Promise<void> {
  const transport = createHttpTransport();
  const place = { remote: "cluster", region: "us-east-1", prefix: "", endpoint: service.endpoint };
  for (const bucketName of remoteBuckets) {
    const connection = new S3Connection({ ...place, bucketName }, service, transport.send);
    const { status } = await connection.send({ method: "PUT" });
    expect(status).toBe(200);
  }
  transport.close();
}
