/**
 * Starts the S3 service of a vitest project whose tests run in workerd. `LEDGE_REMOTE_SERVICE` names a service that
 * runs already, as JSON.
 */
import type { TestProject } from "vitest/node";
import type { RemoteService } from "../../support/remote-bucket.ts";
import { startOwnService } from "../../support/remote-service.ts";

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["LEDGE_REMOTE_SERVICE"];
  if (given !== undefined) {
    project.provide("service", JSON.parse(given) as RemoteService);
    return async () => {};
  }
  const { stop, ...service } = await startOwnService();
  project.provide("service", service);
  return stop;
}
