/**
 * What S3 services honour, measured on our own endpoint and on Ceph. The expected results are the cells
 * of the table in `docs/cluster.md`, so the table says what was measured.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createHttpTransport } from "../../src/store/node/http-transport.ts";
import { probe } from "../../src/store/remote/probe.ts";
import type { RemoteCredentials } from "../../src/store/remote/remote-options.ts";
import { S3Connection } from "../../src/store/remote/s3-connection.ts";
import { useS3 } from "../s3/support/running-s3.ts";
import { installedCephVersion, startCeph, type CephService } from "./ceph/cluster.ts";
import { measurements, RawService } from "./remote/measurements.ts";

const bucketName = "measured";
const ceph = inject("ceph");
/** Run after all tests of the file. */
const afterAllTests: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of afterAllTests) await end();
});
const own = useS3({ buckets: [{ name: bucketName }] });

/** The rows of the table: the cells by the names of the columns. */
const [columns = [], , ...rows] = readFileSync(
  new URL("../../docs/cluster.md", import.meta.url),
  "utf8",
)
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((text) => text.trim()),
  );

function cell(what: string, column: string): string {
  return rows.find(([first]) => first === what)?.[columns.indexOf(column)] ?? "";
}

function isHonoured(column: string, what: string): boolean {
  return cell(what, column).startsWith("honoured");
}

it("has a row of the table for each measurement", () => {
  expect(rows.map(([what]) => what)).toEqual(Object.keys(measurements));
});

/** Started for these tests, where it is installed: the newest version is that of the whole run. */
const reefVersion = installedCephVersion("reef");
const cephColumns = [ceph?.version, reefVersion].filter((version) => typeof version === "string");

describe.each(["Ledge", ...cephColumns.map((version) => `Ceph ${version}`)])("%s", (name) => {
  let service: RawService;
  let credentials: RemoteCredentials;
  const transport = createHttpTransport();

  beforeAll(async () => {
    if (name === "Ledge") {
      credentials = own.server.credentials;
      service = new RawService(`http://127.0.0.1:${own.server.port}`, credentials);
      return;
    }
    const started = name === `Ceph ${ceph?.version}` ? ceph! : await startReef();
    const { accessKeyId, secretAccessKey } = started;
    credentials = { accessKeyId, secretAccessKey };
    service = new RawService(started.endpoint, credentials);
    await service.send({ method: "PUT", path: `/${bucketName}` });
  });
  afterAll(() => {
    service.close();
    transport.close();
  });

  it.each(Object.keys(measurements))("%s", async (what) => {
    const measured = await measurements[what]!({ service, name: bucketName });
    expect(measured).toBe(cell(what, name));
  });

  it("has the features that the table says, by the probe", async () => {
    const place = { remote: "cluster", region: "us-east-1", bucketName, prefix: "" };
    const connection = new S3Connection(
      { ...place, endpoint: service.endpoint },
      credentials,
      transport.send,
    );
    expect(await probe(connection)).toEqual({
      putIfMatch: isHonoured(name, "PutObject, `If-Match`, tag in quotes") ? "quoted" : "unquoted",
      putIfNoneMatch: isHonoured(name, "PutObject, `If-None-Match: *`"),
      conditionalComplete: isHonoured(name, "CompleteMultipartUpload, `If-None-Match: *`"),
      conditionalDelete: isHonoured(name, "DeleteObject, `If-Match`"),
    });
  });
});

async function startReef(): Promise<CephService> {
  const cluster = await startCeph("reef");
  afterAllTests.push(() => cluster.stop());
  return cluster;
}
