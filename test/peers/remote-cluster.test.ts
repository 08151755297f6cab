/**
 * What S3 services honour, measured on our own endpoint and on Ceph. The expected results are the cells
 * of the table in `docs/cluster.md`, so the table says what was measured.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createHttpTransport } from "../../src/store/node/http-transport.ts";
import { probe } from "../../src/store/remote/probe.ts";
import { requireFeatures } from "../../src/store/remote/remote-gaps.ts";
import type { RemoteCredentials, RemoteFeatures } from "../../src/store/remote/remote-options.ts";
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
  .split("## Races")[0]!
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

  const connectTo = (bucket: string) =>
    new S3Connection(
      {
        remote: "cluster",
        region: "us-east-1",
        bucketName: bucket,
        prefix: "",
        endpoint: service.endpoint,
      },
      credentials,
      transport.send,
    );

  it("has the features that the table says, by the probe", async () => {
    const found = await probe(connectTo(bucketName));
    expect(found).toMatchObject({
      putIfMatch: isHonoured(name, "PutObject, `If-Match`, tag in quotes") ? "quoted" : "unquoted",
      putIfNoneMatch: isHonoured(name, "PutObject, `If-None-Match: *`"),
      conditionalComplete: isHonoured(name, "CompleteMultipartUpload, `If-None-Match: *`"),
      etagIsMd5: true,
      ...raced(name),
    });
  });

  it.runIf(name.includes(" 20."))(
    "is refused where the bucket has versions, each time",
    async () => {
      const versioned = connectTo("versioned");
      const enabled = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
      await service.send({ method: "PUT", path: "/versioned" });
      await versioned.exchange(
        {
          method: "PUT",
          query: [["versioning", ""]],
          headers: { "content-type": "application/xml" },
          body: new TextEncoder().encode(enabled),
        },
        "turn on versions",
      );
      const buckets = [connectTo(bucketName), versioned];
      for (let count = 0; count < 5; count++) {
        const [plain, found] = await Promise.all(buckets.map(probe));
        expect(() => requireFeatures(versioned.place, plain!, [])).not.toThrow();
        expect(() => requireFeatures(versioned.place, found!, [])).toThrow(
          /racing puts with one condition succeeded\. [^]*has versions \(enabled\): use a bucket without versions/,
        );
      }
      const { text } = await versioned.exchange(
        { method: "GET", query: [["versions", ""]] },
        "list",
      );
      expect(text).not.toContain("<Key>");
    },
  );
});

/** What holds in races: the last part of docs/cluster.md. */
function raced(name: string): Partial<RemoteFeatures> {
  if (name === "Ledge") {
    return {
      conditionalDelete: true,
      unconditionalPut: "unequal tag",
      unconditionalDelete: true,
      seen: {},
    };
  }
  const isReef = name.includes(" 18.");
  return {
    conditionalDelete: false,
    unconditionalPut: isReef ? null : "unequal tag",
    unconditionalDelete: !isReef,
  };
}

async function startReef(): Promise<CephService> {
  const cluster = await startCeph("reef");
  afterAllTests.push(() => cluster.stop());
  return cluster;
}
