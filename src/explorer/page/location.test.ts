import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bucketPlace, parsePlace, placeUrl, type Place } from "./location.ts";

const parse = (address: string): Place => {
  const { pathname, search } = new URL(address, "http://localhost");
  return parsePlace(pathname, search);
};

describe("parsePlace()", () => {
  it("shows the buckets at the root", () => {
    expect(parse("/")).toEqual({ view: "buckets" });
  });

  it("names a view that does not exist as unknown", () => {
    expect(parse("/nothing/here")).toEqual({ view: "unknown", path: "/nothing/here" });
    expect(parse("/buckets/photos/other")).toMatchObject({ view: "unknown" });
    expect(parsePlace("/buckets/%E0%A4%A", "")).toMatchObject({ view: "unknown" });
  });

  it("ignores a sort that does not exist", () => {
    expect(parse("/buckets/photos?sort=colour")).toEqual(bucketPlace("photos"));
  });
});

describe("placeUrl()", () => {
  const name = fc
    .string({ minLength: 1, unit: "grapheme" })
    .filter((text) => !/^\.{1,2}$/.test(text));
  const text = fc.string({ unit: "grapheme" });
  const places: fc.Arbitrary<Place> = fc.oneof(
    fc.record({
      view: fc.constant("objects" as const),
      bucket: name,
      prefix: text,
      after: text,
      sort: fc.constantFrom("key", "-size", "uploaded"),
      key: fc.option(text),
    }),
    fc.record({ view: fc.constant("uploads" as const), bucket: name }),
    fc.record(
      {
        view: fc.constant("records" as const),
        zone: name,
        search: text,
        record: fc.option(name),
        page: fc.integer({ min: 2 }),
        sort: fc.constantFrom("type", "-name", "-ttl"),
      },
      { requiredKeys: ["view", "zone", "search", "record"] },
    ),
    fc.record(
      {
        view: fc.constant("lookup" as const),
        name: text,
        type: name,
        dnssec: fc.constant(true as const),
      },
      { requiredKeys: ["view", "name", "type"] },
    ),
    fc.record({ view: fc.constant("live" as const), filter: text }),
    fc.constantFrom({ view: "faults" as const }, { view: "state" as const }),
    fc.record({ view: fc.constant("difference" as const), from: name, to: text }),
  );

  it("makes an address that parsePlace() reads back, for any key", () => {
    fc.assert(
      fc.property(places, (place) => {
        expect(parse(placeUrl(place))).toEqual(place);
      }),
    );
  });
});
