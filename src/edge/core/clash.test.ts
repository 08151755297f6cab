import { expect, test } from "vitest";
import { findClash } from "./clash.ts";

const route = (script: string | null, pattern: string, isCustomDomain = false) => ({
  script,
  pattern,
  isCustomDomain,
});
const remove = "Remove it from one of their configurations.";

test("findClash() finds two scripts with one route", () => {
  const routes = [
    route("a", "a.example.com/*"),
    route("a", "a.example.com/*"),
    route("b", "A.Example.com/other/*"),
    route("b", "https://a.example.com/*"),
  ];
  expect(findClash({ routes, buckets: [] })).toBeNull();
  expect(findClash({ routes: [...routes, route("b", "A.example.COM/*")], buckets: [] })).toBe(
    `Two have the route A.example.COM/*: the script "a" and the script "b". ${remove}`,
  );
});

test("findClash() finds a domain of two scripts or buckets", () => {
  const buckets = [{ bucketName: "cdn", hosts: ["cdn.example.com", "cdn.store.localhost"] }];
  const routes = [route("a", "cdn.example.com/*"), route("a", "a.example.com", true)];
  expect(findClash({ routes, buckets: [...buckets, ...buckets] })).toBeNull();
  const others = [...buckets, { bucketName: "other", hosts: ["cdn.example.com"] }];
  expect(findClash({ routes, buckets: others })).toBe(
    `Two have the domain cdn.example.com: the bucket "cdn" and the bucket "other". ${remove}`,
  );
  expect(findClash({ routes: [...routes, route("b", "CDN.example.com", true)], buckets })).toBe(
    `Two have the domain cdn.example.com: the script "b" and the bucket "cdn". ${remove}`,
  );
  expect(findClash({ routes: [...routes, route("b", "A.example.com", true)], buckets })).toBe(
    `Two have the custom domain A.example.com: the script "a" and the script "b". ${remove}`,
  );
});
