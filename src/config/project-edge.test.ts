import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { projectEdge } from "./project-edge.ts";
import { readConfig, type ProjectConfig, type ReadConfigOptions } from "./read-config.ts";

let folder: string;
beforeEach(() => void (folder = temporaryFolder()));

function read(table: object, options: ReadConfigOptions = {}): ProjectConfig {
  writeFileSync(join(folder, "wrangler.jsonc"), JSON.stringify(table, null, 2));
  return readConfig({ folder, ...options });
}

const bucket = (name: string, more: object = {}) => ({ binding: name, bucket_name: name, ...more });

describe("projectEdge()", () => {
  const project = {
    name: "photos",
    routes: [
      "photos.example.com/*",
      { pattern: "shop.example.com", custom_domain: true },
      { pattern: "*.example.com/api/*", zone_name: "example.com" },
      { pattern: "id.example.com/*", zone_id: "023e105f4ecef8ad9ca31a8372d0c353" },
    ],
    env: { staging: { route: "staging.example.com/*", routes: [] }, bare: {} },
  };

  it("has the routes of the script in wrangler's forms", () => {
    const script = "photos";
    expect(projectEdge(read(project)).routes).toEqual([
      { pattern: "photos.example.com/*", isCustomDomain: false, script },
      { pattern: "shop.example.com", isCustomDomain: true, script },
      { pattern: "*.example.com/api/*", isCustomDomain: false, zoneName: "example.com", script },
      { pattern: "id.example.com/*", isCustomDomain: false, script },
    ]);
  });

  it("has the routes of the environment, which inherits those of the top level", () => {
    const staging = projectEdge(read(project, { environment: "staging" })).routes;
    expect(staging).toEqual([
      { pattern: "staging.example.com/*", isCustomDomain: false, script: "photos-staging" },
    ]);
    const bare = projectEdge(read(project, { environment: "bare" })).routes;
    expect(bare[0]).toMatchObject({ pattern: "photos.example.com/*", script: "photos-bare" });
  });

  it("takes the name and the routes of options instead", () => {
    const routes = ["other.example.com/*"];
    expect(projectEdge(read(project), { name: "other", routes }).routes).toEqual([
      { pattern: "other.example.com/*", isCustomDomain: false, script: "other" },
    ]);
    expect(() => projectEdge(read(project), { routes: ["example.com/*.jpg"] })).toThrow(
      'The route "example.com/*.jpg" has * in the middle',
    );
  });

  it("leaves out a route that no request can match, with a warning at its place", () => {
    const config = read({ name: "photos", routes: ["a.example.com/*", "example.com/?a=*"] });
    expect(config.warnings).toEqual([
      expect.stringMatching(
        /wrangler\.jsonc:5:5: routes\[1\] "example\.com\/\?a=\*" has a query or a fragment: /,
      ),
    ]);
    expect(projectEdge(config).routes).toHaveLength(1);
  });

  it("has public buckets by their development names and domains", () => {
    const { buckets } = projectEdge(
      read({
        store_buckets: [
          bucket("photos", { public: true, domains: ["CDN.example.com", "bücher.example.com"] }),
          bucket("again", { bucket_name: "photos", domains: ["img.example.com"] }),
          bucket("Under_score.Dot", { binding: "C", public: true }),
          bucket("live", { preview_bucket_name: "preview", public: true }),
          bucket("files", { domains: ["files.example.com"] }),
          bucket("private"),
          bucket("shared", { remote: "cluster", public: true }),
        ],
        remotes: {
          cluster: {
            endpoint: "http://127.0.0.1:1",
            access_key_id: "id-of-keys",
            secret_access_key: "0123456789",
          },
        },
      }),
    );
    expect(buckets).toEqual([
      {
        bucketName: "photos",
        hosts: [
          "photos.store.localhost",
          "cdn.example.com",
          "xn--bcher-kva.example.com",
          "img.example.com",
        ],
      },
      { bucketName: "Under_score.Dot", hosts: ["under_score.dot.store.localhost"] },
      { bucketName: "preview", hosts: ["preview.store.localhost"] },
      { bucketName: "files", hosts: ["files.example.com"] },
      { bucketName: "shared", hosts: ["shared.store.localhost"] },
    ]);
  });

  it("has the settings", () => {
    expect(projectEdge(read({})).settings).toEqual({ origins: [], country: null, hosts: [] });
    const edge = {
      origins: [
        { host: "App.Example.com.", port: 3000 },
        { host: "10.0.0.0/8", protocol: "https" },
      ],
      country: "DE",
      hosts: ["Name.Tunnel.example"],
    };
    expect(projectEdge(read({ edge })).settings).toEqual({
      origins: [
        { host: "app.example.com", port: 3000 },
        { host: "10.0.0.0/8", protocol: "https" },
      ],
      country: "DE",
      hosts: ["name.tunnel.example"],
    });
  });
});
