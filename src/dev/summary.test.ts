import { describe, expect, it } from "vitest";
import { renderDns, renderSummary, type DevSummary, type DnsSummary } from "./summary.ts";

const url = "http://localhost:8787";
const nothing: DevSummary = {
  url,
  networkUrls: [],
  explorerUrl: null,
  wranglerExplorerUrl: null,
  inspector: null,
  stateFolder: "/p/.wrangler/state",
  bindings: {},
  hidden: new Set(),
  storeLatencyMilliseconds: 0,
  dns: null,
  faults: [],
  s3: null,
  remotes: [],
};
const api = "http://127.0.0.1:8788/client/v4";
const running: DnsSummary = {
  state: "running",
  isDeclared: true,
  url: api,
  addresses: ["127.0.0.1:8053", "[::1]:8053"],
  https: ["  https    https://localhost:8443/client/v4"],
  credentials: ["  e-mail   dev@ledge.local", "  key      k"],
  zones: ["example.org"],
  notes: [],
};

describe("renderSummary()", () => {
  it("is two lines for a script without bindings and DNS", () => {
    expect(renderSummary(nothing, "/p")).toBe(
      "Ready      http://localhost:8787\nState      .wrangler/state",
    );
  });

  it("names the services of remote buckets, and what they lack", () => {
    const remotes: DevSummary["remotes"] = [
      { name: "cluster", endpoint: "https://s3.example.net", gaps: [] },
      {
        name: "old",
        endpoint: "http://[::1]:9000",
        gaps: ["conditional-complete", "conditional-delete"],
      },
    ];
    expect(
      renderSummary({ ...nothing, remotes }, "/p")
        .split("\n")
        .slice(2),
    ).toEqual([
      "Remote     cluster, https://s3.example.net",
      "Remote     old, http://[::1]:9000",
      "  lacks    conditional-complete, conditional-delete",
    ]);
  });

  it("lists every address, and the bindings in a table", () => {
    const summary: DevSummary = {
      ...nothing,
      networkUrls: ["http://192.0.2.7:8787"],
      explorerUrl: "http://localhost:8790/?token=t",
      wranglerExplorerUrl: `${url}/explorer`,
      inspector: "127.0.0.1:9229",
      bindings: {
        PHOTOS: { type: "unsafe_store_bucket", dev: { options: { bucket_name: "p" } } },
        CACHE: { type: "kv_namespace", id: "c" },
      },
      dns: running,
      faults: ["put:photos/*:10001", "dns:servfail:www.example.com/A"],
    };
    expect(renderSummary(summary, "/elsewhere").split("\n")).toEqual([
      "Ready      http://localhost:8787",
      "Network    http://192.0.2.7:8787",
      "Explorer   http://localhost:8790/?token=t",
      "  KV, D1 … http://localhost:8787/explorer",
      "Inspector  127.0.0.1:9229",
      "State      /p/.wrangler/state",
      "DNS API    http://127.0.0.1:8788/client/v4",
      "  https    https://localhost:8443/client/v4",
      "  e-mail   dev@ledge.local",
      "  key      k",
      "  zones    example.org",
      "DNS        127.0.0.1:8053, [::1]:8053 (UDP and TCP)",
      "Faults     put:photos/*:10001",
      "           dns:servfail:www.example.com/A",
      "",
      "Binding         Resource      Mode",
      "env.PHOTOS (p)  Store Bucket  local",
      "env.CACHE (c)   KV Namespace  local",
    ]);
  });
});

describe("renderDns()", () => {
  it("is one line without [dns]", () => {
    expect(renderDns({ state: "on demand", url: api, notes: [] })).toEqual([
      "DNS API    http://127.0.0.1:8788/client/v4 (starts with the first request)",
    ]);
  });

  it("leaves the credentials out without [dns], when zones exist", () => {
    expect(renderDns({ ...running, isDeclared: false })).toEqual([
      "DNS API    http://127.0.0.1:8788/client/v4",
      "  https    https://localhost:8443/client/v4",
      "  zones    example.org",
      "DNS        127.0.0.1:8053, [::1]:8053 (UDP and TCP)",
    ]);
  });

  it("names the process whose DNS is used, after the warnings", () => {
    const shared = { state: "shared", url: null, processId: 7, notes: ["Mind this."] } as const;
    expect(renderDns(shared)).toEqual([
      "Mind this.",
      "DNS API    starts (of process 7, while that process runs)",
    ]);
  });

  it.each([
    [0, "none"],
    [2, "z0, z1"],
    [10, "z0, z1, z2, z3, z4, z5, z6, z7 and 2 more"],
  ])("shows %d zones as: %s", (count, text) => {
    const zones = Array.from({ length: count }, (_, index) => `z${index}`);
    expect(renderDns({ ...running, zones })).toContain(`  zones    ${text}`);
  });
});
