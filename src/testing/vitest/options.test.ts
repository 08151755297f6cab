import { expect, it } from "vitest";
import { checkOptions, type LedgeOptions } from "./options.ts";

it("checkOptions() accepts every option, and options that are undefined", () => {
  const options: LedgeOptions = {
    main: "src/index.ts",
    remoteBindings: false,
    verbose: false,
    additionalExports: { Counter: "DurableObject" },
    miniflare: { kvNamespaces: ["KV"], workers: [{ name: "other", script: "" }] },
    wrangler: { configPath: "wrangler.jsonc", environment: "staging" },
    experimental: { newConfig: { configPath: "cloudflare.config.ts" } },
    configPath: "wrangler.jsonc",
    environment: undefined,
    adopt: true,
    isolate: ["store", "durable_objects"],
    memory: undefined,
    faults: { unused: "error" },
  };
  const others: LedgeOptions = { isolate: false, experimental: { newConfig: true } };
  for (const each of [options, others, { experimental: {} }, {}]) {
    expect(() => checkOptions(each)).not.toThrow();
  }
});

it.each([
  [{ isolat: true }, 'isolat is not a key; did you mean "isolate"?'],
  [{ colour: true }, "colour is not a key; known are main, "],
  [{ isolate: "kv" }, "isolate must be true, false or a list of kinds of bindings."],
  [{ isolate: ["kv", "storage"] }, 'isolate[1] is no kind of binding; did you mean "store"?'],
  [{ isolate: ["queues"] }, "isolate[0] is no kind of binding; known are store, dns, "],
  [{ memory: "no" }, "memory must be true or false."],
  [{ faults: { unused: "fail" } }, "faults.unused must be one of warn, error, ignore."],
  [{ configPath: 1 }, "configPath must be text."],
  [{ miniflare: [] }, "miniflare must be a table, not a list."],
  [
    { wrangler: { config: "x" } },
    "wrangler.config is not a key; known are configPath, environment",
  ],
  [{ experimental: { newConfig: "x" } }, "experimental.newConfig must be true or false."],
  [
    { experimental: { newConfig: { path: "x" } } },
    "experimental.newConfig.path is not a key; known are configPath.",
  ],
])("checkOptions() refuses %j", (options, message) => {
  expect(() => checkOptions(options)).toThrow(message);
});

it("checkOptions() lists every mistake", () => {
  expect(() => checkOptions({ adopts: true, memory: 1 })).toThrow(
    /memory must be true or false\.\n.*adopts is not a key/s,
  );
});

it("LedgeOptions refuses unknown options and values", () => {
  const mistakes: LedgeOptions[] = [
    // @ts-expect-error an unknown option
    { isolat: true },
    // @ts-expect-error an unknown kind
    { isolate: ["queues"] },
    // @ts-expect-error an option that Miniflare does not have
    { miniflare: { kvNamespace: ["KV"] } },
    // @ts-expect-error a value that Miniflare does not take
    { miniflare: { kvNamespaces: 1 } },
    // @ts-expect-error an unknown option of the pool
    { wrangler: { config: "wrangler.jsonc" } },
  ];
  // The compiler is the test.
  expect(mistakes).toHaveLength(5);
});
