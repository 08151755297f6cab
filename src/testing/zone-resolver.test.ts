import { expect, it, vi } from "vitest";
import { isDohUrl, resolveFromZones } from "./zone-resolver.ts";

it.each([
  ["https://cloudflare-dns.com/dns-query", true],
  ["http://127.0.0.1:8788/dns-query?dns=AAAB", true],
  ["https://dns.google/resolve?name=example.org", true],
  ["https://dns.google/resolve", false],
  ["https://example.org/resolve?name=example.org", false],
  ["https://example.org/a/dns-query", false],
  ["ftp://example.org/dns-query", false],
])("isDohUrl() of %s is %s", (url, expected) => {
  expect(isDohUrl(new URL(url))).toBe(expected);
});

function scopeWith(status: number) {
  const goOut = vi.fn<typeof fetch>(async () => new Response("from outside"));
  const asked = vi.fn<typeof fetch>(async () => new Response("from the zone", { status }));
  const scope = { fetch: goOut as typeof fetch };
  resolveFromZones({ fetch: asked }, scope);
  const get = async (...args: Parameters<typeof fetch>) => (await scope.fetch(...args)).text();
  return { goOut, asked, get };
}

it.each([
  [200, "from the zone"],
  [503, "from the zone"],
  [421, "from outside"],
  [400, "from outside"],
])("resolveFromZones() with status %s of the test's DNS answers %s", async (status, expected) => {
  const { get, asked } = scopeWith(status);
  expect(await get("https://1.1.1.1/dns-query?name=a.example", { method: "GET" })).toBe(expected);
  expect(asked.mock.calls[0]?.[0]).toBe("http://dns/ledge/dns-query?name=a.example");
});

it("resolveFromZones() hands other requests on as they are", async () => {
  const { get, goOut, asked } = scopeWith(200);
  const args = [{ toString: () => "https://example.org/" }, { method: "POST" }] as never;
  expect(await get(...(args as Parameters<typeof fetch>))).toBe("from outside");
  expect(goOut.mock.calls).toEqual([args]);
  expect(asked).not.toHaveBeenCalled();
});

it("resolveFromZones() lets fetch refuse what is no URL", async () => {
  const { get, goOut } = scopeWith(200);
  await get("/relative");
  expect(goOut).toHaveBeenCalledExactlyOnceWith("/relative", undefined);
});

it("resolveFromZones() keeps the body of a request that goes out", async () => {
  const { get, goOut, asked } = scopeWith(421);
  await get("https://1.1.1.1/dns-query", { method: "POST", body: "a message" });
  const [request] = goOut.mock.calls[0] as [Request];
  expect(await request.text()).toBe("a message");
  expect(asked.mock.calls[0]?.[1]?.body).toEqual(new TextEncoder().encode("a message").buffer);
});
