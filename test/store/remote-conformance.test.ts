/** The conformance suite in Node, on buckets of our own S3-compatible API. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { startOwnService, type RunningService } from "../support/remote-service.ts";
import { bucketSuite } from "./conformance/suite/index.ts";
import { deviationsOn } from "./remote.expectations.ts";
import { nodeBindings } from "./support/node-bindings.ts";

const folder = mkdtempSync(join(tmpdir(), "ledge-conformance-"));
let service: Promise<RunningService> | undefined;
// Runs after the hook of the bindings, which stops the runtime.
afterAll(async () => {
  await (await service)?.stop();
  rmSync(folder, { recursive: true });
});

// The class of the binding in Node is that of local buckets.
bucketSuite({
  name: "remote, in Node",
  runtime: "node",
  environment: nodeBindings({ folder, service: () => (service ??= startOwnService()) }),
  deviations: deviationsOn("ledge"),
});
