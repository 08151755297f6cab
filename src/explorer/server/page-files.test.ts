import { describe, expect, it } from "vitest";
import { listPreload } from "./page-files.ts";

const preload = (address: string): string | null => {
  const { pathname: path, searchParams: query } = new URL(address, "http://localhost");
  return listPreload({ base: "/~base", path, query });
};

describe("listPreload()", () => {
  it("names the request of the list of a bucket", () => {
    expect(preload("/buckets/photos")).toBe(
      "</~base/api/buckets/photos/objects?prefix=&delimiter=%2F&limit=1000>; rel=preload; as=fetch; crossorigin",
    );
  });

  it("encodes what a prefix and a key can have, so that nothing ends the header or the address", () => {
    const query = new URLSearchParams({ prefix: "a>, <b>\r\n/", after: "ä;c", sort: "-size" });
    expect(preload(`/buckets/photos?${query.toString()}`)).toBe(
      "</~base/api/buckets/photos/objects?prefix=a%3E%2C+%3Cb%3E%0D%0A%2F&delimiter=%2F&limit=1000&after=%C3%A4%3Bc>" +
        "; rel=preload; as=fetch; crossorigin",
    );
  });

  it.each(["/", "/buckets", "/buckets/photos/uploads", "/zones/photos", "/buckets/%3E", "/live"])(
    "names nothing for %s",
    (address) => expect(preload(address)).toBeNull(),
  );
});
