import { describe, expect, it } from "vitest";
import { findRoute, type Route } from "./call.ts";

const route = (method: Route["method"], path: string): Route => ({
  method,
  path,
  handle: () => Promise.reject(new Error("not called")),
});
const object = route("GET", "/api/buckets/:bucket/object");
const change = route("PATCH", "/api/buckets/:bucket/object");
const rest = route("GET", "/api/dns/*");
const routes = [object, change, rest];

describe("findRoute()", () => {
  it("decodes parameters", () => {
    expect(findRoute(routes, "PATCH", "/api/buckets/my%20photos/object")).toEqual({
      route: change,
      parameters: { bucket: "my photos" },
    });
  });

  it("answers HEAD by GET", () => {
    expect(findRoute(routes, "HEAD", "/api/buckets/photos/object").route).toBe(object);
  });

  it("keeps the rest of a path as it is", () => {
    expect(findRoute(routes, "GET", "/api/dns/zones/a%2Fb")).toMatchObject({
      parameters: { rest: "zones/a%2Fb" },
    });
    expect(findRoute(routes, "GET", "/api/dns")).toEqual({ route: null, methods: [] });
  });

  it("names the methods of a path", () => {
    expect(findRoute(routes, "PUT", "/api/buckets/photos/object")).toEqual({
      route: null,
      methods: ["GET", "PATCH"],
    });
  });

  it.each(["/api/buckets//object", "/api/buckets/%E0%A4/object", "/api/buckets/a/b/object"])(
    "has no route for %s",
    (path) => {
      expect(findRoute(routes, "GET", path)).toEqual({ route: null, methods: [] });
    },
  );
});
