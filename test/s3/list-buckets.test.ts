/** ListBuckets with the deployed service's parameters and headers, and by AWS's paginator. */
import * as sdk from "@aws-sdk/client-s3";
import { describe, expect, it } from "vitest";
import { useS3 } from "./support/running-s3.ts";

const names = ["a1", "a2", "a3", "b1", "b2"];
const s3 = useS3({ buckets: names.map((name) => ({ name })) });

async function list(query: string, headers: Record<string, string> = {}) {
  const answer = await s3.client.send({ target: `/?${query}`, headers });
  const text = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(answer.text)?.[1];
  return {
    code: answer.code,
    names: Array.from(answer.text.matchAll(/<Name>(.*?)</g), ([, name]) => name),
    isTruncated: text("IsTruncated"),
    next: text("NextContinuationToken"),
    token: text("ContinuationToken"),
    startAfter: text("StartAfter"),
    count: text("KeyCount"),
    max: text("MaxKeys"),
    headers: [answer.headers["cf-is-truncated"], answer.headers["cf-next-continuation-token"]],
  };
}

describe("ListBuckets", () => {
  it("lists all buckets without parameters", async () => {
    expect(await list("")).toMatchObject({
      names,
      isTruncated: "false",
      next: undefined,
      count: "5",
      max: "1000",
      headers: ["false", undefined],
    });
  });

  it("continues a page by the token, within the prefix", async () => {
    const first = await list("prefix=a&max-keys=2");
    expect(first).toMatchObject({
      names: ["a1", "a2"],
      isTruncated: "true",
      next: "a2",
      token: undefined,
      count: "2",
      max: "2",
      headers: ["true", "a2"],
    });
    expect(await list("prefix=a&max-keys=2&continuation-token=a2")).toMatchObject({
      names: ["a3"],
      isTruncated: "false",
      next: undefined,
      token: "a2",
    });
  });

  it("starts after a name, but not when a token continues the list", async () => {
    expect(await list("start-after=a3")).toMatchObject({ names: ["b1", "b2"], startAfter: "a3" });
    expect(await list("start-after=a1&continuation-token=b1")).toMatchObject({ names: ["b2"] });
  });

  it("takes headers before parameters", async () => {
    const headers = { "cf-prefix": "b", "cf-max-keys": "1", "cf-start-after": "b1" };
    expect(await list("prefix=a&max-keys=2&start-after=a1", headers)).toMatchObject({
      names: ["b2"],
      max: "1",
      startAfter: "b1",
    });
    const token = { "cf-continuation-token": "b1" };
    expect(await list("continuation-token=a1", token)).toMatchObject({ names: ["b2"] });
  });

  it("answers 0 buckets with a last page, and refuses what is no number", async () => {
    for (const query of ["max-keys=0", "max-buckets=0"]) {
      expect(await list(query)).toMatchObject({ names: [], isTruncated: "false", next: undefined });
    }
    expect((await list("max-keys=many")).code).toBe("InvalidArgument");
    expect((await list("", { "cf-max-keys": "-1" })).code).toBe("InvalidArgument");
    expect((await list("max-keys=5000")).max).toBe("1000");
  });

  it("is followed to its end by AWS's paginator", async () => {
    const client = new sdk.S3Client({
      region: "auto",
      endpoint: s3.server.url,
      credentials: s3.server.credentials,
    });
    const pages = sdk.paginateListBuckets({ client }, { MaxBuckets: 2 });
    const listed: (string | undefined)[][] = [];
    for await (const { Buckets = [] } of pages) listed.push(Buckets.map(({ Name }) => Name));
    expect(listed).toEqual([["a1", "a2"], ["a3", "b1"], ["b2"]]);
  });
});
