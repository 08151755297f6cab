import { describe, expect, it } from "vitest";
import {
  adoptBuckets,
  deployedBuckets,
  unservedBuckets,
  withoutServedBuckets,
} from "./deployed-buckets.ts";

const entry = { binding: "PHOTOS", bucket_name: "photos" };

/** The adopted buckets, and the mistakes as text. */
function adopt(list: unknown, own: string[] = []) {
  const mistakes: string[] = [];
  const buckets = adoptBuckets(
    { r2_buckets: list },
    own.map((binding) => ({ binding, bucketName: "own" })),
    (path, problem) => mistakes.push(`${path.join(".")} ${problem}`),
  );
  return { buckets, mistakes };
}

describe("deployedBuckets()", () => {
  it.each([undefined, null, {}, "photos", [5, {}, { binding: 5 }]])("passes over %o", (list) => {
    expect(deployedBuckets({ r2_buckets: list })).toEqual([]);
  });
});

describe("adoptBuckets()", () => {
  it("serves each bucket, with the prefixes of the deployed service", () => {
    expect(adopt([entry, { binding: "LOGS", bucket_name: "l", preview_bucket_name: "p" }])).toEqual(
      {
        buckets: [
          { binding: "PHOTOS", bucketName: "photos", listTrailingDelimiter: true },
          {
            binding: "LOGS",
            bucketName: "l",
            previewBucketName: "p",
            listTrailingDelimiter: true,
          },
        ],
        mistakes: [],
      },
    );
  });

  it("names a bucket without a name as its binding", () => {
    expect(adopt([{ binding: "PHOTOS" }]).buckets).toMatchObject([{ bucketName: "PHOTOS" }]);
  });

  it("leaves a bucket of store_buckets as it is", () => {
    expect(adopt([entry], ["PHOTOS"])).toEqual({ buckets: [], mistakes: [] });
  });

  it.each(["remote", "experimental_remote"])("leaves a bucket with %s to wrangler", (key) => {
    expect(adopt([{ ...entry, [key]: true }]).buckets).toEqual([]);
  });

  it("reports a name that a remote bucket has", () => {
    const remote = {
      name: "cluster",
      endpoint: "https://s3.example.net",
      region: "us-east-1",
      prefix: "",
      accept: [],
      credentials: { accessKeyId: "", secretAccessKey: "" },
    };
    const own = [{ binding: "B", bucketName: "b", previewBucketName: "photos", remote }];
    const mistakes: string[] = [];
    const adopted = adoptBuckets({ r2_buckets: [entry] }, own, (path, problem) =>
      mistakes.push(`${path.join(".")} ${problem}`),
    );
    expect(adopted).toEqual([]);
    expect(mistakes).toEqual([
      'r2_buckets.0 cannot be adopted: "photos" is the name of two buckets: this bucket is in the state ' +
        'folder, and the bucket of B is on the remote "cluster". Add another preview_bucket_name',
    ]);
  });

  it.each([
    [{ binding: "_PHOTOS" }, "_PHOTOS"],
    [{ ...entry, bucket_name: "a b" }, "a b"],
    [{ ...entry, preview_bucket_name: "a/b" }, "a/b"],
  ])("reports the name of %o", (bad, name) => {
    expect(adopt([entry, bad])).toMatchObject({
      buckets: [{ binding: "PHOTOS" }],
      mistakes: [
        `r2_buckets.1 cannot be adopted: "${name}" is not a valid bucket name. ` +
          'Add bucket_name, as in "photos"',
      ],
    });
  });
});

it("unservedBuckets() are the buckets that the simulator serves on this machine", () => {
  const table = { r2_buckets: [entry, { binding: "LOGS" }, { binding: "FAR", remote: true }] };
  expect(unservedBuckets(table, [])).toEqual(["PHOTOS", "LOGS"]);
  expect(unservedBuckets(table, [{ binding: "PHOTOS" }])).toEqual(["LOGS"]);
});

describe("withoutServedBuckets()", () => {
  it("removes the buckets that the store serves", () => {
    const table = { name: "x", r2_buckets: [entry, { binding: "LOGS" }] };
    expect(withoutServedBuckets(table, [{ binding: "PHOTOS", bucketName: "photos" }])).toEqual({
      name: "x",
      r2_buckets: [{ binding: "LOGS" }],
    });
  });

  it("returns a table without the list unchanged", () => {
    const table = { name: "x", r2_buckets: undefined };
    expect(withoutServedBuckets(table, [])).toBe(table);
  });
});
