/** Who may use the explorer: its own page with the token, at a loopback name. */
import { describe, expect, it } from "vitest";
import { explorerRoutes } from "../../src/explorer/server/start-explorer.ts";
import { sendRaw } from "../faults/support/raw-http.ts";
import { useExplorer } from "./support/explorer.ts";

const used = useExplorer({ buckets: ["photos"] });

/** Every route, and what is not a route: the page, its files, and paths that do not exist. */
const targets = [
  ...explorerRoutes({} as Parameters<typeof explorerRoutes>[0]).map(({ method, path }) => ({
    method,
    path: path.replaceAll(/:\w+|\*/g, "photos"),
  })),
  { method: "GET", path: "/" },
  { method: "GET", path: "/buckets/photos" },
  { method: "GET", path: "/api/nothing" },
  { method: "OPTIONS", path: "/api/project" },
];

describe("access to the explorer", () => {
  it("is given by the printed link, as a strict cookie and an address without the token", async () => {
    const response = await fetch(used.explorer.url, { redirect: "manual" });
    expect(response.status).toBe(303);
    const base = response.headers.get("location");
    expect(base).toMatch(/^\/~[0-9a-f]{16}\/$/);
    expect(response.headers.get("set-cookie")).toContain(`Path=${base}; HttpOnly; SameSite=Strict`);
    expect((await used.fetch("/")).status).toBe(200);
  });

  it("leads to no other host, whatever the path of the link", async () => {
    const { port } = used.explorer;
    const { searchParams } = new URL(used.explorer.url);
    const path = `//evil.example/?${searchParams.toString()}`;
    const headers = { host: `localhost:${port}` };
    const answer = await sendRaw(port, { method: "GET", path, headers });
    expect(answer.headers["location"]).toMatch(/^\/~/);
  });

  it("of a person who comes from another local page needs a click", async () => {
    const { port } = used.explorer;
    const headers = {
      host: `localhost:${port}`,
      "sec-fetch-site": "same-site",
      "sec-fetch-mode": "navigate",
    };
    const path = '//evil.example/x?a="b"';
    const { text } = await sendRaw(port, { method: "GET", path, headers });
    expect(text).toContain('<a href="/evil.example/x?a=%22b%22">Open the explorer</a>');
  });

  it("is not needed for the files of the page, which are compressed and kept", async () => {
    const [path] = /\/assets\/[\w-]+\.js/.exec(await (await used.fetch("/")).text()) ?? [];
    const response = await fetch(`${used.origin}${path}`, { headers: { "accept-encoding": "br" } });
    expect(response.headers.get("content-encoding")).toBe("br");
    expect(response.headers.get("cache-control")).toContain("immutable");
    expect((await response.text()).length).toBeGreaterThan(10_000);
  });

  it("is refused without the token, with a page that says what to do", async () => {
    const response = await fetch(`${used.origin}/buckets`);
    expect(response.status).toBe(401);
    expect(await response.text()).toContain("Open the link that the command prints");
  });

  it.each(targets)("is refused for $method $path", async ({ method, path }) => {
    const { port } = used.explorer;
    const host = `localhost:${port}`;
    const base = new URL(used.address).pathname;
    const status = async (headers: Record<string, string>): Promise<unknown> => {
      const answer = await sendRaw(port, { method, path: `${base}${path}`, headers });
      const granted = Object.keys(answer.headers).filter((name) => name.startsWith("access-c"));
      return granted.length === 0 ? answer.status : granted;
    };
    const { cookie } = used;
    expect({
      "no token": await status({ host }),
      "a wrong token": await status({ host, cookie: `${cookie.slice(0, -1)}x` }),
      "another host": await status({ host: "evil.example", cookie }),
      "another origin": await status({ host, cookie, origin: "https://evil.example" }),
      "another port": await status({ host, cookie, origin: "http://localhost:1" }),
      "no origin": await status({ host, cookie, origin: "null" }),
      "a page of another site": await status({ host, cookie, "sec-fetch-site": "cross-site" }),
      "a page of another port": await status({ host, cookie, "sec-fetch-site": "same-site" }),
    }).toEqual({
      "no token": 401,
      "a wrong token": 401,
      "another host": 403,
      "another origin": 403,
      "another port": 403,
      "no origin": 403,
      "a page of another site": 403,
      "a page of another port": 403,
    });
  });
});
