import { describe, expect, it } from "vitest";
import { packHeaders } from "./packed-header.ts";
import { objectOfHeaders } from "./remote-object.ts";

function checksumsOf(etag: string, checksum: string): unknown {
  const headers = new Headers({ etag: `"${etag}"`, "x-amz-checksum-crc32": checksum });
  return objectOfHeaders("k", headers, 9).checksums;
}

describe("objectOfHeaders()", () => {
  const md5 = "0".repeat(32);

  it("has the checksum of the service for an object in parts", () => {
    expect(checksumsOf(`${md5}-2`, "y/Q5Jg==")).toEqual({ crc32: "cbf43926" });
    expect(checksumsOf(`${md5}-2`, "y/Q5Jg==-2")).toEqual({ crc32: "cbf43926-2" });
    expect(checksumsOf(`${md5}-11`, "y/Q5Jg==-11")).toEqual({ crc32: "cbf43926-11" });
  });

  it("leaves out a composite checksum of one part", () => {
    expect(checksumsOf(`${md5}-1`, "y/Q5Jg==")).toEqual({ crc32: "cbf43926" });
    expect(checksumsOf(`${md5}-1`, "y/Q5Jg==-1")).toEqual({});
  });

  it.each([
    ["in parts, the time of the service if it is later", `${md5}-2`, 50_000, 60_000],
    ["in parts, the time of its beginning if it is later", `${md5}-2`, 60_123, 60_123],
    ["of one put, the time of the put", md5, 50_123, 50_123],
  ])("has for an object %s", (_, etag, begun, uploaded) => {
    const packed = packHeaders({
      version: "v",
      uploaded: begun,
      checksums: {},
      http: {},
      custom: {},
      storageClass: "Standard",
    });
    const stored = new Date(60_000).toUTCString();
    const headers = new Headers({ etag: `"${etag}"`, "last-modified": stored, ...packed });
    expect(objectOfHeaders("k", headers, 9).uploaded).toBe(uploaded);
  });
});
