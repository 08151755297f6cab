import type { NetworkInterfaceInfo } from "node:os";
import { describe, expect, it } from "vitest";
import {
  connectionNews,
  networkUrlsOf,
  renderBindings,
  renderDns,
  renderSummary,
  urlOf,
  type DevSummary,
  type DnsSummary,
  type RunningScript,
  type ScriptBinding,
} from "./summary.ts";

const url = "http://localhost:8787";
const nothing: DevSummary = {
  url,
  links: [],
  networkUrls: [],
  explorerUrl: null,
  wranglerExplorerUrl: null,
  inspector: null,
  stateFolder: "/p/.wrangler/state",
  stateNotes: [],
  scripts: [],
  hidden: new Set(),
  storeLatencyMilliseconds: 0,
  runningScripts: new Set(),
  dns: null,
  faults: [],
  s3: null,
  remotes: [],
};
const api = "http://127.0.0.1:8788/client/v4";
const running: DnsSummary = {
  state: "running",
  url: api,
  addresses: ["127.0.0.1:8053", "[::1]:8053"],
  details: ["  https    https://localhost:8443/client/v4", "  e-mail   dev@ledge.local"],
  zones: ["example.org"],
  listeners: ["DNS        127.0.0.1:8053, [::1]:8053 (UDP and TCP)"],
  notes: [],
};

describe("renderSummary()", () => {
  it("is two lines for a script without bindings and DNS", () => {
    expect(renderSummary(nothing, "/p")).toBe(
      "Ready      http://localhost:8787\nState      .wrangler/state",
    );
  });

  it("says what the state started from", () => {
    const summary = { ...nothing, stateFolder: "/shm/x", stateNotes: ["from seed", "temporary"] };
    expect(renderSummary(summary, "/p")).toContain("State      /shm/x (from seed, temporary)");
  });

  it("names the services of remote buckets, and what they lack", () => {
    const remotes: DevSummary["remotes"] = [
      { name: "cluster", endpoint: "https://s3.example.net", gaps: [] },
      {
        name: "old",
        endpoint: "http://[::1]:9000",
        gaps: ["conditional-complete: ignored.", "conditional-delete: ignored."],
      },
    ];
    expect(
      renderSummary({ ...nothing, remotes }, "/p")
        .split("\n")
        .slice(2),
    ).toEqual([
      "Remote     cluster, https://s3.example.net",
      "Remote     old, http://[::1]:9000",
      "  lacks    conditional-complete: ignored.",
      "  lacks    conditional-delete: ignored.",
    ]);
  });

  it("lists every address, and the bindings in a table", () => {
    const summary: DevSummary = {
      ...nothing,
      networkUrls: ["http://192.0.2.7:8787"],
      explorerUrl: "http://localhost:8790/?token=t",
      wranglerExplorerUrl: `${url}/explorer`,
      inspector: "127.0.0.1:9229",
      scripts: [
        {
          name: "shop",
          bindings: {
            PHOTOS: { type: "unsafe_store_bucket", dev: { options: { bucket_name: "p" } } },
            CACHE: { type: "kv_namespace", id: "c" },
          },
        },
      ],
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
  const elsewhere = { notes: ["Mind this."], details: [], zones: [], listeners: [] };

  it("is one line without [dns], after the notes", () => {
    expect(renderDns({ ...elsewhere, state: "on demand", url: api })).toEqual([
      "Mind this.",
      "DNS API    http://127.0.0.1:8788/client/v4 (starts with the first request)",
    ]);
  });

  it("names the process whose DNS is used", () => {
    expect(renderDns({ ...elsewhere, state: "shared", url: null, processId: 7 })).toEqual([
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

const options = {
  hidden: new Set(["LEDGE_EXCEPTIONS"]),
  storeLatencyMilliseconds: 0,
  runningScripts: new Set<string>(),
};
const bucket = { type: "unsafe_store_bucket", dev: { options: { bucket_name: "photos" } } };

/** The cells of the only row. */
function cells(binding: ScriptBinding): string[] {
  return (renderBindings({ X: binding }, options)[1] as string).split(/ {2,}/);
}

describe("renderBindings()", () => {
  it("is nothing for a script without bindings", () => {
    expect(renderBindings({ LEDGE_EXCEPTIONS: { type: "unsafe_exceptions" } }, options)).toEqual(
      [],
    );
  });

  it("sorts the bindings by their kind, with variables last", () => {
    const table = renderBindings(
      {
        GREETING: { type: "plain_text", value: "hello" },
        CACHE: { type: "kv_namespace", id: "abc" },
        PHOTOS: bucket,
        DNS: { type: "unsafe_dns_remote" },
      },
      options,
    );
    expect(table).toEqual([
      "Binding                 Resource              Mode",
      "env.PHOTOS (photos)     Store Bucket          local",
      "env.DNS                 DNS Record API        local",
      "env.CACHE (abc)         KV Namespace          local",
      'env.GREETING ("hello")  Environment Variable  local',
    ]);
  });

  it("shows the delay of buckets", () => {
    const [, row] = renderBindings({ A: bucket }, { ...options, storeLatencyMilliseconds: 80 });
    expect(row).toBe("env.A (photos)  Store Bucket  local, 80 ms late");
  });

  const inherited = Symbol("inherited");
  it.each<[ScriptBinding, string[]]>([
    [
      { type: "durable_object_namespace", class_name: "Room", script_name: "chat" },
      ["env.X (Room, defined in chat)", "Durable Object", "local [not connected]"],
    ],
    [{ type: "d1", database_name: "d", database_id: "i" }, ["env.X (d)", "D1 Database", "local"]],
    [{ type: "r2_bucket", bucket_name: "b", remote: true }, ["env.X (b)", "R2 Bucket", "remote"]],
    [{ type: "r2_bucket", bucket_name: inherited }, ["env.X", "R2 Bucket", "local"]],
    [
      { type: "service", service: "a", entrypoint: "E" },
      ["env.X (a#E)", "Worker", "local [not connected]"],
    ],
    [{ type: "ai" }, ["env.X", "AI", "remote"]],
    [{ type: "ai", remote: false }, ["env.X", "AI", "not supported"]],
    [{ type: "vectorize", index_name: "i" }, ["env.X (i)", "Vectorize Index", "not supported"]],
    [
      { type: "ratelimit", simple: { limit: 5, period: 10 } },
      ["env.X (5 requests/10s)", "Rate Limit", "local"],
    ],
    [{ type: "secret_text", value: "s3" }, ['env.X ("(hidden)")', "Environment Variable", "local"]],
    [
      { type: "plain_text", value: "s3", hidden: true },
      ['env.X ("(hidden)")', "Environment Variable", "local"],
    ],
    [{ type: "json", value: { a: 1 } }, ['env.X ({"a":1})', "Environment Variable", "local"]],
    [
      { type: "plain_text", value: "\u001b[2J" },
      ['env.X ("\\u001b[2J")', "Environment Variable", "local"],
    ],
    [
      { type: "plain_text", value: "v".repeat(50) },
      [`env.X ("${"v".repeat(37)}...")`, "Environment Variable", "local"],
    ],
    [
      {
        type: "unsafe_store_bucket",
        dev: { options: { bucket_name: "photos", remote: { name: "cluster" } } },
      },
      ["env.X (photos)", "Store Bucket", "on cluster"],
    ],
    [{ type: "agent_memory" }, ["env.X", "Agent Memory", "local"]],
    [{ type: "unsafe_other", dev: { plugin: { name: "mine" } } }, ["env.X", "mine", "local"]],
  ])("shows %o", (binding, row) => {
    expect(cells(binding)).toEqual(row);
  });
});

const at = (hostname: string) => ({ protocol: "http", hostname, port: 8787 });

describe("urlOf()", () => {
  it.each([
    ["localhost", "http://localhost:8787"],
    ["0.0.0.0", "http://localhost:8787"],
    ["*", "http://localhost:8787"],
    ["::1", "http://[::1]:8787"],
  ])("%s is %s", (hostname, expected) => {
    expect(urlOf(at(hostname))).toBe(expected);
  });
});

const address = (host: string, family: string, internal: boolean) =>
  ({ address: host, family, internal }) as NetworkInterfaceInfo;

describe("networkUrlsOf()", () => {
  const interfaces = {
    lo: [address("127.0.0.1", "IPv4", true)],
    eth0: [address("192.0.2.7", "IPv4", false), address("fe80::1", "IPv6", false)],
  };

  it("lists the addresses of other interfaces for a server on all addresses", () => {
    expect(networkUrlsOf(at("0.0.0.0"), interfaces)).toEqual(["http://192.0.2.7:8787"]);
  });

  it("is empty for a server on one address", () => {
    expect(networkUrlsOf(at("localhost"), interfaces)).toEqual([]);
  });
});

const squeezed = (rows: readonly string[]) => rows.map((row) => row.replaceAll(/ {2,}/g, "  "));

describe("bindings to other scripts", () => {
  const bindings = {
    PEER: { type: "service", service: "peer", entrypoint: "Admin" },
    THERE: { type: "service", service: "peer", remote: true },
    OWN: { type: "durable_object_namespace", class_name: "Own" },
    OTHER: { type: "durable_object_namespace", class_name: "Other", script_name: "away" },
  };
  const runningScripts = new Set(["peer"]);

  it("are connected or not, unless they are remote", () => {
    const rows = renderBindings(bindings, { ...options, runningScripts });
    expect(squeezed(rows)).toEqual([
      "Binding  Resource  Mode",
      "env.OWN (Own)  Durable Object  local",
      "env.OTHER (Other, defined in away)  Durable Object  local [not connected]",
      "env.PEER (peer#Admin)  Worker  local [connected]",
      "env.THERE (peer)  Worker  remote",
    ]);
  });

  it("connectionNews() tells of the bindings that have changed", () => {
    const scripts = [{ name: "shop", bindings }];
    const later = new Set(["away"]);
    expect(connectionNews(scripts, runningScripts, later)).toEqual([
      "env.PEER (peer#Admin): local [not connected]",
      "env.OTHER (Other, defined in away): local [connected]",
    ]);
    expect(connectionNews(scripts, later, later)).toEqual([]);
  });

  it("renderSummary() shows each script", () => {
    const scripts: RunningScript[] = [
      { name: "shop", bindings: { PEER: bindings.PEER } },
      { name: "peer", bindings: { PHOTOS: bucket } },
      { name: "idle", bindings: {} },
    ];
    const text = renderSummary({ ...nothing, scripts, runningScripts }, "/p");
    expect(squeezed(text.split("\n"))).toEqual([
      "Ready  http://localhost:8787",
      "  beside  peer, idle",
      "State  .wrangler/state",
      "",
      "Script shop",
      "Binding  Resource  Mode",
      "env.PEER (peer#Admin)  Worker  local [connected]",
      "",
      "Script peer",
      "Binding  Resource  Mode",
      "env.PHOTOS (photos)  Store Bucket  local",
    ]);
  });
});
