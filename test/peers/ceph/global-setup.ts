/**
 * One Ceph cluster for all test files of a run. A file gets it by `inject("ceph")`. Tests that kill
 * daemons start a cluster of their own (`startCeph()`).
 */
import type { TestProject } from "vitest/node";
import { installedCephVersion, startCeph, type CephService } from "./cluster.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** `null` when Ceph is not installed: the tests are skipped then. */
    ceph: CephService | null;
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  if (installedCephVersion() === null) {
    console.error("Ceph is not there: its tests do not run. test/peers/ceph/install.sh gets it.");
    project.provide("ceph", null);
    return async () => {};
  }
  const cluster = await startCeph();
  const { endpoint, accessKeyId, secretAccessKey, version } = cluster;
  project.provide("ceph", { endpoint, accessKeyId, secretAccessKey, version });
  // For the workers, which start after this: test/support/s3-services.ts.
  Object.assign(process.env, {
    LEDGE_S3_ENDPOINT: endpoint,
    LEDGE_S3_ACCESS_KEY_ID: accessKeyId,
    LEDGE_S3_SECRET_ACCESS_KEY: secretAccessKey,
  });
  return () => cluster.stop();
}
