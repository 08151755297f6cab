/** The endpoint on a state folder of its own, for the tests of one file. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { startS3, type RunningS3, type StartS3Options } from "../../../dist/index.js";
import { isMark } from "../../support/store.ts";
import { S3TestClient } from "./s3-client.ts";

export interface TestS3 {
  readonly server: RunningS3;
  readonly client: S3TestClient;
  readonly stateFolder: string;
  /** The blob files of a bucket. */
  files(bucketName: string): string[];
}

/** The returned object is filled before the first test. */
export function useS3(options: Omit<StartS3Options, "stateFolder" | "port">): TestS3 {
  const stateFolder = mkdtempSync(join(tmpdir(), "ledge-s3-"));
  const used = { stateFolder } as { -readonly [Name in keyof TestS3]: TestS3[Name] };
  beforeAll(async () => {
    used.server = await startS3({ ...options, stateFolder, port: 0 });
    used.client = new S3TestClient(used.server);
  });
  used.files = (bucketName) => {
    const blobs = join(stateFolder, "v3", "store", "blobs");
    const folder = readdirSync(blobs).find((name) => name.includes(bucketName));
    if (folder === undefined) return [];
    return readdirSync(join(blobs, folder)).filter((name) => !isMark(name));
  };
  afterAll(async () => {
    await used.server?.close();
    rmSync(stateFolder, { recursive: true, force: true, maxRetries: 3 });
  });
  return used;
}
