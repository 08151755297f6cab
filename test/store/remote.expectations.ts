/**
 * What a bucket on an S3 service does otherwise than a local bucket, with the reasons.
 *
 * Each entry names the tests of the conformance suite that fail for this reason. The run inverts these tests: it fails
 * when such a test succeeds, and when any other test fails. Every entry stands in `docs/deviations.md`.
 */
import type { RemoteService } from "../support/remote-bucket.ts";
import type { Subject } from "./conformance/suite/subject.ts";
import type { Expectation } from "./differential.expectations.ts";
import type { ContentMark } from "./model/operation.ts";

interface RemoteDeviation {
  readonly id: string;
  readonly reason: string;
  /** The services on which the tests fail. Default: all. */
  readonly services?: readonly RemoteService["name"][];
  /** Names of tests, with the names of their blocks. */
  readonly tests: readonly string[];
}

const manyEntries = "many entries of 8192 bytes";
const fewEntries = [
  "keys and values of 8192 bytes",
  "a key of 8192 bytes",
  "4096 characters of two bytes",
  "a content type of 8192 bytes",
  "both kinds, 8192 bytes together",
];

function metadataTests(metadata: readonly string[]): string[] {
  return ["put()", "createMultipartUpload()"].flatMap((method) =>
    metadata.map((each) => `metadata > ${method} takes metadata: ${each}`),
  );
}

export const remoteDeviations: readonly RemoteDeviation[] = [
  {
    id: "clock",
    reason:
      "The clock of tests moves local buckets only: times are those of the machine, and an upload expires by a lifecycle rule of the service.",
    tests: [
      "expiry > uploads end after 7 days and a second, also when the clock is reset",
      "expiry > uploadPart() does not prolong an upload",
      "object > uploaded follows the store's clock",
    ],
  },
  {
    id: "metadata-size",
    reason:
      "Metadata travels in one encoded header, a third larger. Many entries that have 8,192 bytes together do not fit.",
    tests: metadataTests([manyEntries]),
  },
  {
    id: "metadata-size-of-ledge",
    reason:
      "A service that counts the encoded header takes less: our own S3-compatible API takes less than 6,144 bytes of metadata.",
    services: ["ledge"],
    tests: [
      ...metadataTests(fewEntries),
      "list: include > list() limits the bytes of a page with metadata, and pages through everything",
    ],
  },
  {
    id: "listed-by-service",
    reason:
      "A list without metadata is one request: version, time, storage class and checksums of its objects are those that the service lists, as for objects of other programs.",
    tests: ["metadata > keeps the class InfrequentAccess"],
  },
  {
    id: "all-parts",
    reason:
      "Ceph completes an upload only with all parts that were uploaded; otherwise error 10025.",
    services: ["ceph"],
    tests: [
      "complete > complete() discards the parts that it is not given",
      "complete > complete() refuses parts of unequal sizes, and then takes some of valid sizes",
      "expiry > complete() succeeds after 7 days less a minute",
    ],
  },
  {
    id: "completed-twice",
    reason:
      "Ceph answers a completion that is repeated with success, so two concurrent calls both succeed.",
    services: ["ceph"],
    tests: ["complete > complete() succeeds for one of two concurrent calls"],
  },
  {
    id: "nul-in-key",
    reason: "Ceph refuses keys with NUL.",
    services: ["ceph"],
    tests: ["put > put() takes every character of a key literally"],
  },
  {
    id: "long-upload-id",
    reason: "Ceph refuses a request whose URL is that long, where the upload does not exist.",
    services: ["ceph"],
    tests: [
      "resumeMultipartUpload > takes an uploadId of 10000 characters, and methods of the upload fail",
    ],
  },
];

const part: ContentMark = { $: "content", kind: "string", sizeBytes: 10, seed: 0 };
const slot = 0;

/** What the head of an object has and a list of the service does not. */
const ofHeads = /^value\.\d+\.objects\.\d+\.(?:version|uploaded|storageClass|checksums(?:\..*)?)$/;

const listedByService: Expectation = {
  id: "listed-by-service",
  reason: "As above.",
  when: ({ call, path }) =>
    call.method === "list" && !JSON.stringify(call.args).includes("Metadata") && ofHeads.test(path),
  provoke: [
    { method: "put", args: ["a", part, { storageClass: "InfrequentAccess" }] },
    { method: "list", args: [] },
  ],
};

/** Differences of a service to the model and to R2, besides those of every bucket of Ledge. */
export const serviceDifferences: Readonly<Record<RemoteService["name"], readonly Expectation[]>> = {
  ledge: [listedByService],
  ceph: [
    listedByService,
    {
      id: "all-parts",
      reason: "As above.",
      when: ({ call, path, ours }) =>
        call.method === "complete" && path === "" && JSON.stringify(ours ?? "").includes("(10025)"),
      diverges: true,
      provoke: [
        { method: "createMultipartUpload", args: ["a"], slot },
        { method: "uploadPart", args: [1, part], slot },
        { method: "uploadPart", args: [2, part], slot },
        { method: "complete", args: [[{ $: "part", slot, partNumber: 1, age: 0 }]], slot },
      ],
    },
  ],
};

/** The tests that fail on a service, with their reasons. */
export function deviationsOn(service: RemoteService["name"]): NonNullable<Subject["deviations"]> {
  const holding = remoteDeviations.filter(({ services }) => services?.includes(service) ?? true);
  return Object.fromEntries(
    holding.flatMap(({ tests, reason }) => tests.map((test) => [test, reason])),
  );
}
