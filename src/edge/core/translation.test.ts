import { expect, it } from "vitest";
import { translateCookie, translateUrls, translations } from "./translation.ts";

const outer = new URL("http://photos.example.com.localhost:8787");
const inner = new URL("http://photos.example.com");
const leadsHere = (host: string): boolean => host === "cdn.example.com";
const below = () => translations(outer, inner, leadsHere);

it.each([
  ["http://photos.example.com.localhost:8787", "http://photos.example.com"],
  ["HTTP://photos.example.com.LOCALHOST:8787/a?b", "http://photos.example.com/a?b"],
  ["https://other.example.com.localhost:8787/", "http://other.example.com/"],
  ["http://photos.example.com.localhost:9999/", null],
  ["http://tenant.localhost:8787/", null],
  ["http://localhost:8787/", null],
  ["text/html, http", null],
])("a header of the request: %s becomes %s", (value, expected) => {
  const { request, response } = below();
  const changed = translateUrls(value, request);
  expect(changed).toBe(expected ?? value);
  // The response may name the same.
  expect(translateUrls(changed, response)).toBe(
    expected === null ? value : value.toLowerCase().replace("https:", "http:"),
  );
});

it.each([
  ["https://photos.example.com/a", "http://photos.example.com.localhost:8787/a"],
  ["https://photos.example.com:443/a", "http://photos.example.com.localhost:8787/a"],
  ["http://cdn.example.com", "http://cdn.example.com.localhost:8787"],
  ["<http://cdn.example.com/a>; rel=x", "<http://cdn.example.com.localhost:8787/a>; rel=x"],
  ["https://example.com/photos.example.com", null],
  ["https://photos.example.com:8443/", null],
  ["/photos", null],
])("a header of the response: %s becomes %s", (value, expected) => {
  expect(translateUrls(value, below().response)).toBe(expected ?? value);
});

it.each([
  ["a=1; Domain=photos.example.com", "a=1; Domain=photos.example.com.localhost"],
  ["a=1;domain=.Example.com; Secure", "a=1;domain=example.com.localhost; Secure"],
  ["a=Domain=example.com", null],
  ["a=1; Domain=other.example.com", null],
  ["a=1; Path=/", null],
])("the cookie %s becomes %s", (cookie, expected) => {
  expect(translateCookie(cookie, below().response)).toBe(expected ?? cookie);
});

it("other addresses are translated by themselves, with cookies of the very host", () => {
  const [local, shop] = [new URL("http://localhost:8787"), new URL("http://shop.example:80")];
  const { request, response } = translations(local, shop, leadsHere);
  expect(translateUrls("http://localhost:8787/a", request)).toBe("http://shop.example/a");
  expect(translateUrls("http://shop.example/a https://cdn.example.com/", response)).toBe(
    "http://localhost:8787/a https://cdn.example.com/",
  );
  expect(translateCookie("a=1; Domain=shop.example", response)).toBe("a=1; Domain=localhost");
});
