/** The model properties and the comparison with R2, on buckets of our own S3-compatible API. */
import { afterAll } from "vitest";
import { startOwnService, type RunningService } from "../support/remote-service.ts";
import { remoteModelSuites } from "./support/remote-model.ts";

let service: Promise<RunningService> | undefined;
afterAll(async () => {
  await (await service)?.stop();
});

remoteModelSuites({
  serviceName: "ledge",
  service: () => (service ??= startOwnService()),
  runs: { properties: { few: 8, all: 30 }, differential: { few: 5, all: 15 } },
});
