/** The conformance suite in Node, on buckets of our own S3-compatible API. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { startOwnService, type RunningService } from "../support/remote-service.ts";
import { subjectOf } from "./conformance/environment.ts";
import { storeBucketSuite } from "./conformance/suite/index.ts";
import { deviationsOn } from "./remote.expectations.ts";
import { nodeBindings } from "./support/node-bindings.ts";

const folder = mkdtempSync(join(tmpdir(), "ledge-conformance-"));
let service: Promise<RunningService> | undefined;
// Runs after the hook of the bindings, which stops the runtime.
afterAll(async () => {
  await (await service)?.stop();
  rmSync(folder, { recursive: true });
});

storeBucketSuite(
  subjectOf(
    { name: "remote, in Node", runtime: "node", deviations: deviationsOn("ledge") },
    nodeBindings({ folder, service: () => (service ??= startOwnService()) }),
  ),
);
