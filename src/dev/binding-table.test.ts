import { describe, expect, it } from "vitest";
import { renderBindings, type ScriptBinding } from "./binding-table.ts";

const options = { hidden: new Set(["LEDGE_EXCEPTIONS"]), storeLatencyMilliseconds: 0 };
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
      ["env.X (Room, defined in chat)", "Durable Object", "local"],
    ],
    [{ type: "d1", database_name: "d", database_id: "i" }, ["env.X (d)", "D1 Database", "local"]],
    [{ type: "r2_bucket", bucket_name: "b", remote: true }, ["env.X (b)", "R2 Bucket", "remote"]],
    [{ type: "r2_bucket", bucket_name: inherited }, ["env.X", "R2 Bucket", "local"]],
    [{ type: "service", service: "a", entrypoint: "E" }, ["env.X (a#E)", "Worker", "local"]],
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
