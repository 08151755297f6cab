import { describe, expect, it } from "vitest";
import { placeReasons } from "./reason-places.ts";

const reason = (rule: string, name: string) => ({ rule, name, text: "" });

const at = (zone: string, search: string) => ({ view: "records", zone, search, record: null });

describe("placeReasons()", () => {
  it("leads to the zone and to the records, in the zone that the chain has reached", () => {
    const places = placeReasons([
      reason("zone", "example.org"),
      reason("alias", "a.example.org"),
      reason("zone", "example.com"),
      reason("exact", "b.example.com"),
      reason("no-data", "b.example.com"),
    ]).map(({ place }) => place);
    expect(places).toEqual([
      at("example.org", ""),
      at("example.org", "a.example.org"),
      at("example.com", ""),
      at("example.com", "b.example.com"),
      null,
    ]);
  });

  it("leads nowhere without a zone", () => {
    expect(placeReasons([reason("no-zone", "x.test")])[0]?.place).toBeNull();
  });
});
