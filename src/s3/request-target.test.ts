import { describe, expect, it } from "vitest";
import { bucketOfHost, parseParameters, parseTarget } from "./request-target.ts";

const target = (text: string, host = "localhost:8789", hosts: string[] = []) => {
  const { bucketName, key, query } = parseTarget(text, host, hosts);
  return { bucketName, key, query };
};

describe("parseTarget()", () => {
  it.each([
    ["/", null, null],
    ["/photos", "photos", null],
    ["/photos/", "photos", null],
    ["/photos/a.jpg", "photos", "a.jpg"],
    ["/photos/a/../b//c", "photos", "a/../b//c"],
    ["/photos/a%2Fb+c%20d", "photos", "a/b+c d"],
    ["/photos//", "photos", "/"],
    ["/photos/%C3%A9", "photos", "é"],
    ["/photos/\u00c3\u00a9", "photos", "é"],
    ["http://localhost:8789/photos/a", "photos", "a"],
  ])("reads %s in path style", (text, bucketName, key) => {
    expect(target(text)).toEqual({ bucketName, key, query: "" });
  });

  it("reads the bucket of the host in virtual-host style", () => {
    expect(target("/a/b?x=1", "photos.localhost:8789")).toEqual({
      bucketName: "photos",
      key: "a/b",
      query: "x=1",
    });
    expect(target("/", "photos.s3.test", ["s3.test"])).toEqual({
      bucketName: "photos",
      key: null,
      query: "",
    });
    expect(target("/photos", "s3.test", ["s3.test"]).bucketName).toBe("photos");
  });

  it("refuses a key that is not UTF-8", () => {
    expect(() => target("/photos/%FF")).toThrow(URIError);
    expect(() => target("/photos/%")).toThrow(URIError);
  });
});

describe("bucketOfHost()", () => {
  it.each([
    ["localhost", null],
    ["127.0.0.1:8789", null],
    ["[::1]:8789", null],
    ["photos.localhost", "photos"],
    ["s3.localhost", null],
    ["photos.s3.localhost", "photos"],
    ["localhost.evil.test", null],
  ])("of %s is %j", (host, bucketName) => {
    expect(bucketOfHost(host, ["s3.localhost"])).toBe(bucketName);
  });
});

it("parseParameters() decodes the query, and keeps the first of equal names", () => {
  const parameters = parseParameters("prefix=a%2Fb+c&prefix=d&uploads");
  expect(parameters.get("prefix")).toBe("a/b c");
  expect(parameters.has("uploads")).toBe(true);
  expect(parameters.get("none")).toBeNull();
});
