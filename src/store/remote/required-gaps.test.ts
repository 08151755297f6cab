/** Which services suffice for a bucket. */
import { describe, expect, it } from "vitest";
import { gapsOf, type RemoteFeatures } from "./remote-features.ts";
import { requiredGaps } from "./required-gaps.ts";

const place = {
  remote: "cluster",
  endpoint: "https://s3.example.net",
  region: "us-east-1",
  bucketName: "photos",
  prefix: "",
};
const all: RemoteFeatures = {
  putIfMatch: "quoted",
  putIfNoneMatch: true,
  conditionalComplete: true,
  conditionalDelete: true,
};
const none: RemoteFeatures = {
  putIfMatch: null,
  putIfNoneMatch: false,
  conditionalComplete: false,
  conditionalDelete: false,
};

describe("gapsOf()", () => {
  it("lists what does not hold", () => {
    expect(gapsOf(all)).toEqual([]);
    expect(gapsOf(none)).toEqual(["conditional-put", "conditional-complete", "conditional-delete"]);
    expect(gapsOf({ ...all, putIfMatch: null })).toEqual(["conditional-put"]);
    expect(gapsOf({ ...all, conditionalDelete: false })).toEqual(["conditional-delete"]);
  });
});

describe("requiredGaps()", () => {
  it("finds nothing when puts honour conditions", () => {
    const partial = { ...none, putIfMatch: "unquoted", putIfNoneMatch: true } as const;
    expect(requiredGaps(place, partial, [])).toBeNull();
  });

  it("says which condition of a put is ignored, and what to do", () => {
    expect(requiredGaps(place, none, ["conditional-delete"])).toBe(
      'The remote "cluster" (https://s3.example.net) ignores If-None-Match and If-Match of a put, so two ' +
        "writers can overwrite each other. Use a service that honours conditional writes, or write " +
        'accept = ["conditional-put"] in [remotes.cluster].',
    );
    expect(requiredGaps(place, { ...all, putIfMatch: null }, [])).toContain("ignores If-Match of");
    expect(requiredGaps(place, { ...all, putIfNoneMatch: false }, [])).toContain(
      "ignores If-None-Match of",
    );
  });

  it("finds nothing that the configuration accepts", () => {
    expect(requiredGaps(place, none, ["conditional-put"])).toBeNull();
  });
});
