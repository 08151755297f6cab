/**
 * What S3 services honour, measured on our own endpoint and on Ceph. The expected results are the cells
 * of the table in `docs/cluster.md`, so the table says what was measured.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import type { Conditional } from "../../src/store/core/conditional.ts";
import { createHttpTransport } from "../../src/store/node/http-transport.ts";
import { confirmFeatures, probe } from "../../src/store/remote/probe.ts";
import { RemoteBucket } from "../../src/store/remote/remote-bucket.ts";
import { requireFeatures } from "../../src/store/remote/remote-gaps.ts";
import type { RemoteCredentials, RemoteFeatures } from "../../src/store/remote/remote-options.ts";
import { S3Connection } from "../../src/store/remote/s3-connection.ts";
import { useS3 } from "../s3/support/running-s3.ts";
import { contentOf } from "../store/support/remote-store.ts";
import { description } from "../store/support/store-client.ts";
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
      await service.send({ method: "PUT", path: "/versioned" });
      await turnOnVersions(versioned);
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

  it.runIf(name.includes(" 20."))(
    "loses no acknowledged increment when versions are turned on while buckets are in use",
    async () => {
      await service.send({ method: "PUT", path: "/switched" });
      const features = await probe(connectTo("switched"));
      const spool = { open: () => Promise.reject(new Error("unused")), remove: async () => {} };
      const runtimes = [0, 1].map(() => {
        const connection = connectTo("switched");
        const confirm = (hasVersionIds: boolean) =>
          confirmFeatures(connection, features, [], hasVersionIds);
        return new RemoteBucket({ connection, features, spool }, { confirm, isConfirmed: true });
      });
      await put(runtimes[0]!, 0);
      let acknowledged = 0;
      const refusals: string[] = [];
      /** Ends with a refusal that says that nothing was executed. */
      const increment = async (bucket: RemoteBucket): Promise<void> => {
        for (;;) {
          const { value, etag } = await read(bucket);
          const onlyIf = { etagMatches: [{ kind: "strong", value: etag }] } as const;
          const outcome = await put(bucket, value + 1, onlyIf);
          if (outcome.ok) acknowledged += outcome.value === null ? 0 : 1;
          else if (outcome.failure?.outcome === "not executed" && outcome.code !== 10058) {
            refusals.push(outcome.text);
            return;
          }
        }
      };
      const clients = runtimes.flatMap((bucket) => [1, 2, 3, 4].map(() => increment(bucket)));
      await vi.waitFor(() => expect(acknowledged).toBeGreaterThan(40), { timeout: 60_000 });
      await turnOnVersions(connectTo("switched"));
      await Promise.all(clients);
      expect(refusals).toEqual(
        clients.map(() => expect.stringMatching(/has versions \(enabled\): use a bucket without/)),
      );
      const { value } = await read(runtimes[0]!);
      expect(value).toBeGreaterThanOrEqual(acknowledged);
    },
  );
});

function put(bucket: RemoteBucket, value: number, onlyIf?: Conditional) {
  return bucket.execute({
    method: "put",
    key: "counter",
    content: contentOf(String(value)),
    ...description,
    ...(onlyIf && { onlyIf }),
  });
}

async function read(bucket: RemoteBucket) {
  const found = await bucket.get({ key: "counter" });
  if (found?.status !== "found") throw new Error("There is no counter.");
  const { etag } = found.object;
  return { value: Number(new TextDecoder().decode(found.content as ArrayBuffer)), etag };
}

async function turnOnVersions(connection: S3Connection): Promise<void> {
  const enabled = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
  await connection.exchange(
    {
      method: "PUT",
      query: [["versioning", ""]],
      headers: { "content-type": "application/xml" },
      body: new TextEncoder().encode(enabled),
    },
    "turn on versions",
  );
}

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
