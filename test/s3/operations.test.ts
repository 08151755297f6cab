/**
 * Every command of AWS's published model is implemented, or answers an error and changes nothing. So does
 * every combination of a method, subresources and headers that is no operation.
 */
/* oxlint-disable typescript/no-explicit-any -- the inputs of commands are given by name */
import * as sdk from "@aws-sdk/client-s3";
import * as fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { propertyRuns } from "../support/property-runs.ts";
import { dumpBuckets, elements, type Dump } from "./support/bucket-dump.ts";
import { randomInput } from "./support/random-input.ts";
import { useS3 } from "./support/running-s3.ts";

const s3 = useS3({ buckets: [{ name: "photos" }] });
const send = (...args: Parameters<typeof s3.client.send>) => s3.client.send(...args);
const numRuns = propertyRuns({ few: 3, all: 8 });

const Bucket = "photos";
const Key = "key";
/** What a command may name. The upload has one part. */
const fixed: Record<string, unknown> = {
  Bucket,
  Key,
  CopySource: `${Bucket}/other`,
  RenameSource: `${Bucket}/other`,
  PartNumber: 1,
  // The SDK computes a checksum with it.
  ChecksumAlgorithm: "CRC32",
  RequestRoute: "route",
};

const CORSConfiguration = { CORSRules: [{ AllowedOrigins: ["*"], AllowedMethods: ["GET"] }] };
const AbortIncompleteMultipartUpload = { DaysAfterInitiation: 2 };
const Rules = [{ Status: "Enabled", Filter: { Prefix: "a" }, AbortIncompleteMultipartUpload }];
const cors =
  "<CORSConfiguration><CORSRule><AllowedOrigin>https://a.test</AllowedOrigin>" +
  "<AllowedMethod>PUT</AllowedMethod></CORSRule></CORSConfiguration>";
const lifecycle =
  "<LifecycleConfiguration><Rule><ID>one</ID><Status>Enabled</Status><Filter/>" +
  "<AbortIncompleteMultipartUpload><DaysAfterInitiation>3</DaysAfterInitiation>" +
  "</AbortIncompleteMultipartUpload></Rule></LifecycleConfiguration>";

/** The commands that the server implements, with inputs that succeed. */
const reads: Record<string, object> = {
  GetBucketCors: {},
  GetBucketEncryption: {},
  GetBucketLifecycleConfiguration: {},
  GetBucketLocation: {},
  GetBucketVersioning: {},
  GetObject: {},
  HeadBucket: {},
  HeadObject: {},
  ListBuckets: {},
  ListMultipartUploads: {},
  ListObjects: {},
  ListObjectsV2: {},
  ListObjectVersions: {},
  ListParts: {},
};
const writes: Record<string, object> = {
  AbortMultipartUpload: {},
  CompleteMultipartUpload: { MultipartUpload: { Parts: [{ PartNumber: 1, ETag: "" }] } },
  CopyObject: {},
  CreateBucket: { Bucket: "made" },
  CreateMultipartUpload: {},
  DeleteBucket: { Bucket: "empty" },
  DeleteBucketCors: {},
  DeleteBucketLifecycle: {},
  DeleteObject: {},
  DeleteObjects: { Delete: { Objects: [{ Key }] } },
  PutBucketCors: { CORSConfiguration },
  PutBucketLifecycleConfiguration: { LifecycleConfiguration: { Rules } },
  PutObject: { Body: "new" },
  UploadPart: { Body: "new" },
  UploadPartCopy: {},
};
/** Of these, the answer is that the bucket has none. */
const absent: Record<string, string> = {
  GetBucketReplication: "ReplicationConfigurationNotFoundError",
  GetBucketTagging: "NoSuchTagSet",
  GetObjectLockConfiguration: "ObjectLockConfigurationNotFoundError",
};
const implemented = { ...reads, ...writes };
const commands = Object.keys(sdk)
  .filter((name) => name.endsWith("Command") && name !== "$Command")
  .map((name) => name.slice(0, -"Command".length));
const refused = commands.filter((name) => !(name in implemented) && !(name in absent));

let client: any;
/** The requests that have reached the server. */
let sent = 0;

beforeAll(() => {
  const { url, credentials } = s3.server;
  const options = { region: "auto", endpoint: url, forcePathStyle: true, credentials };
  const { requestHandler } = new sdk.S3Client(options).config as any;
  client = new sdk.S3Client({
    ...options,
    maxAttempts: 1,
    requestHandler: {
      handle: (request: any, settings: any) => {
        sent += 1;
        // A command can have a name before the host.
        return requestHandler.handle(Object.assign(request, { hostname: "127.0.0.1" }), settings);
      },
    },
  });
});

const commandOf = (name: string, input: object): any =>
  new (sdk as unknown as Record<string, new (given: object) => any>)[`${name}Command`]!(input);

/** The code of the error; `null` for success. */
async function outcome(name: string, input: object): Promise<string | null> {
  try {
    const { Body } = await client.send(commandOf(name, input));
    await Body?.transformToByteArray?.();
    return null;
  } catch (error) {
    return (error as Error).name;
  }
}

let before: Dump;
let isPrepared = false;

/** Two objects, one upload with a part, rules, and an empty bucket. */
async function prepare(): Promise<void> {
  if (isPrepared) return;
  const uploads = (await send({ target: "/photos?uploads" })).text;
  const keys = elements(uploads, "Key");
  for (const [index, uploadId] of elements(uploads, "UploadId").entries()) {
    await send({ method: "DELETE", target: `/photos/${keys[index]}?uploadId=${uploadId}` });
  }
  for (const key of elements((await send({ target: "/photos?list-type=2" })).text, "Key")) {
    await send({ method: "DELETE", target: `/photos/${key}` });
  }
  const headers = { "x-amz-meta-a": "1", "content-type": "text/plain" };
  await send({ method: "PUT", target: "/photos/key", body: "content", headers });
  await send({ method: "PUT", target: "/photos/other", body: "other" });
  const created = await send({ method: "POST", target: "/photos/key?uploads" });
  const [UploadId] = elements(created.text, "UploadId");
  const target = `/photos/key?partNumber=1&uploadId=${UploadId}`;
  const { etag } = (await send({ method: "PUT", target, body: "part" })).headers;
  await send({ method: "PUT", target: "/photos?cors", body: cors });
  await send({ method: "PUT", target: "/photos?lifecycle", body: lifecycle });
  await send({ method: "PUT", target: "/empty" });
  await send({ method: "DELETE", target: "/made" });
  fixed["UploadId"] = UploadId;
  fixed["ETag"] = etag;
  before = await dumpBuckets(s3.client);
  isPrepared = true;
}

beforeEach(prepare);

function inputOf(name: string, requiredOnly: boolean): fc.Arbitrary<object> {
  const input = randomInput(commandOf(name, {}).schema[4], { fixed, requiredOnly });
  // Another length than that of the body is no request.
  return input.map((given) => Object.assign(given, { ContentLength: undefined }));
}

/** The members of a command that name what is prepared, and no others: the SDK would send them. */
function fixedOf(name: string): Record<string, unknown> {
  const { schema } = commandOf(name, {});
  const names: readonly string[] = schema[4][4] ?? schema[4]()[4];
  return Object.fromEntries(
    Object.entries(fixed).filter(([each]) => names.includes(each) && each !== "ChecksumAlgorithm"),
  );
}

it("the commands of the model are those that these tests know", () => {
  expect(Object.keys(implemented).filter((name) => !commands.includes(name))).toEqual([]);
  expect([Object.keys(implemented).length, commands.length, refused.length]).toEqual([29, 112, 80]);
});

describe("a command that the server implements", () => {
  it.each(Object.entries(reads))("reads, and changes nothing: %s", async (name, input) => {
    expect(await outcome(name, { ...fixedOf(name), ...input })).toBeNull();
    expect(await dumpBuckets(s3.client)).toEqual(before);
  });

  it.each(Object.entries(writes))("writes: %s", async (name, input) => {
    isPrepared = false;
    const given = { ...fixedOf(name), ...input };
    const text = JSON.stringify(given, (key, value: unknown) =>
      key === "ETag" ? fixed["ETag"] : value,
    );
    expect(await outcome(name, JSON.parse(text) as object)).toBeNull();
    expect(await dumpBuckets(s3.client)).not.toEqual(before);
  });

  it.each(Object.entries(absent))("answers that there is none: %s", async (name, code) => {
    expect(await outcome(name, { Bucket })).toBe(code);
    expect(await dumpBuckets(s3.client)).toEqual(before);
  });

  it.each(Object.keys(implemented))("changes nothing when it fails: %s", async (name) => {
    await fc.assert(
      fc.asyncProperty(inputOf(name, false), async (given) => {
        const failed = (await outcome(name, given)) !== null;
        if (!failed && name in writes) {
          isPrepared = false;
          await prepare();
          return;
        }
        expect(await dumpBuckets(s3.client)).toEqual(before);
      }),
      { numRuns },
    );
  });
});

it.each(refused)("%s is refused, and changes nothing", async (name) => {
  sent = 0;
  await fc.assert(
    fc.asyncProperty(inputOf(name, true), inputOf(name, false), async (...inputs) => {
      for (const input of inputs) expect(await outcome(name, input)).not.toBeNull();
      expect(await dumpBuckets(s3.client)).toEqual(before);
    }),
    { numRuns },
  );
  expect(sent).toBeGreaterThanOrEqual(2 * numRuns);
});

/** The subresources and parameters of a write, by what it is about. Each set is a whole query. */
const writeQueries: Record<string, readonly string[]> = {
  "PUT /made": [""],
  "PUT /photos": ["", "cors", "lifecycle"],
  "POST /photos": ["delete"],
  "DELETE /photos": ["cors", "lifecycle"],
  "DELETE /empty": ["", "cors", "lifecycle"],
  "PUT /photos/key": ["", "partNumber uploadId"],
  "POST /photos/key": ["uploadId", "uploads"],
  "DELETE /photos/key": ["", "uploadId", "versionId"],
};
const harmlessHeaders = new Set([
  "x-amz-acl",
  "x-amz-meta-b",
  "x-amz-copy-source",
  "x-amz-storage-class",
]);
const headerValues: Record<string, string> = {
  "x-amz-acl": "private",
  "x-amz-meta-b": "2",
  "x-amz-copy-source": "/photos/other",
  "x-amz-storage-class": "STANDARD",
  "x-amz-tagging": "a=b",
  "x-amz-write-offset-bytes": "7",
  "x-amz-rename-source": "/photos/other",
  "x-amz-object-lock-legal-hold": "ON",
  "x-amz-website-redirect-location": "/",
  "x-amz-if-match-size": "1",
  "x-amz-mfa": "1",
  "x-amz-future": "1",
  "cf-future": "1",
};
const parameterValues: Record<string, () => string> = {
  uploadId: () => String(fixed["UploadId"]),
  partNumber: () => "1",
  versionId: () => "null",
  "x-id": () => "RenameObject",
};
const parameterNames = [
  ..."acl annotation append attributes cors delete encryption future legal-hold lifecycle".split(
    " ",
  ),
  ..."location partNumber policy publicAccessBlock renameObject restore retention select".split(
    " ",
  ),
  ..."tagging torrent uploadId uploads versionId versioning versions website x-id".split(" "),
];

it("a request that no operation describes is refused, and changes nothing", async () => {
  const request = fc.record({
    method: fc.constantFrom("GET", "HEAD", "PUT", "POST", "DELETE", "PATCH"),
    path: fc.constantFrom("/photos/key", "/photos/key", "/photos", "/made", "/empty", "/"),
    names: fc.uniqueArray(fc.constantFrom(...parameterNames), { maxLength: 3 }),
    headerNames: fc.uniqueArray(fc.constantFrom(...Object.keys(headerValues)), { maxLength: 2 }),
  });
  let changed = 0;
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, names, headerNames }) => {
      const query = names.map((name) => `${name}=${parameterValues[name]?.() ?? ""}`).join("&");
      const headers = Object.fromEntries(headerNames.map((name) => [name, headerValues[name]!]));
      const target = query === "" ? path : `${path}?${query}`;
      const body = method === "PUT" || method === "POST" ? "body" : "";
      await send({ method, target, headers, body });
      const after = await dumpBuckets(s3.client);
      const isWrite = writeQueries[`${method} ${path}`]?.includes(names.toSorted().join(" "));
      if (isWrite && headerNames.every((name) => harmlessHeaders.has(name))) {
        const isChanged = JSON.stringify(after) !== JSON.stringify(before);
        changed += Number(isChanged);
        isPrepared = !isChanged;
        await prepare();
        return;
      }
      expect(after).toEqual(before);
    }),
    { numRuns: propertyRuns({ few: 200, all: 1000 }) },
  );
  // The requests that are operations have had an effect.
  expect(changed).toBeGreaterThan(0);
});
