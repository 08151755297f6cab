/** Two runtimes on buckets of our own S3-compatible API: what one writes the other reads, whatever fails. */
import { afterAll } from "vitest";
import { startOwnService, type RunningService } from "../support/remote-service.ts";
import { remoteFaultSuite } from "./support/remote-faults.ts";

let service: Promise<RunningService> | undefined;
afterAll(async () => {
  await (await service)?.stop();
});

remoteFaultSuite("our own endpoint", () => (service ??= startOwnService()));
