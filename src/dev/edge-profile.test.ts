import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { readConfig } from "../config/read-config.ts";
import { clashNews, edgeLinks, edgeProfile } from "./edge-profile.ts";

const configuration = {
  name: "photos",
  routes: ["photos.example.com/*", "https://example.com/api/*", "*.example.com/*"],
  store_buckets: [
    { binding: "CDN", bucket_name: "cdn", public: true, domains: ["cdn.example.com"] },
  ],
  edge: { hosts: ["name.tunnel.example"] },
};

function profileAt(hostname: string, options: object = {}) {
  const folder = temporaryFolder({ "wrangler.json": JSON.stringify(configuration) });
  const config = readConfig({ configPath: join(folder, "wrangler.json") });
  const projects = [{ config, wrangler: { name: "photos", dev: {} } as never }];
  return edgeProfile(projects, options, { url: "http://localhost:8787", hostname });
}

it.each([
  ["localhost", {}, ["name.tunnel.example"]],
  ["::1", { host: "Other.example:80" }, ["name.tunnel.example", "other.example"]],
  ["0.0.0.0", {}, null],
  ["192.168.0.5", {}, null],
])("a dev server at %s with %j answers for the hosts %j", (hostname, options, hosts) => {
  expect(profileAt(hostname, options).scriptHosts).toEqual(hosts);
});

it("edgeLinks() has the names of routes, buckets and records, each once", () => {
  const links = edgeLinks(profileAt("localhost"), ["app.example.com", "cdn.example.com"]);
  expect(links).toEqual([
    "http://photos.example.com.localhost:8787/",
    "http://example.com.localhost:8787/api/",
    "http://cdn.store.localhost:8787/",
    "http://cdn.example.com.localhost:8787/",
    "http://app.example.com.localhost:8787/",
  ]);
  expect(edgeLinks(profileAt("0.0.0.0"), ["app.example.com"])).toEqual([]);
});

it("clashNews() names the other dev server, and none that runs the same script", () => {
  const profile = profileAt("localhost");
  const same = {
    ...profile.member,
    id: "1",
    processId: 7,
    token: "t",
    url: "http://localhost:8788",
  };
  const routes = same.routes.map((route) => ({ ...route, script: "shop" }));
  expect(clashNews(profile, [same])).toEqual([]);
  expect(clashNews(profile, [{ ...same, routes }])).toEqual([
    expect.stringMatching(
      /^Two have the route photos\.example\.com\/\*: .* The dev server at http:\/\/localhost:8788 \(process 7\)/,
    ),
  ]);
});
