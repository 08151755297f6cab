import { describe, expect, it } from "vitest";
import { ineffectiveKeys, refusedBindings, refusedKeys } from "./refused-bindings.ts";

describe("refusedBindings()", () => {
  it("names each binding that workerd does not have", () => {
    const sentences = refusedBindings([
      { name: "TEXT", type: "plain_text", text: "" },
      { name: "CACHE", type: "kv_namespace", namespace_id: "x" },
      { name: "DB", type: "d1" },
      { name: "NEW", type: "something_new" },
    ]);
    expect(sentences.map((sentence) => sentence.split(". ")[0])).toEqual([
      'The binding "CACHE" is a KV namespace, which workerd alone does not have',
      'The binding "DB" is a D1 database, which workerd alone does not have',
      'The binding "NEW" is of the type "something_new", which workerd alone does not have',
    ]);
  });

  it("refuses Durable Objects of another script only", () => {
    const type = "durable_object_namespace";
    expect(refusedBindings([{ name: "OWN", type, class_name: "Counter" }])).toEqual([]);
    const [sentence] = refusedBindings([
      { name: "OTHER", type, class_name: "C", script_name: "api" },
    ]);
    expect(sentence).toContain('"OTHER" is a Durable Object of the script "api"');
  });
});

it("refusedKeys() names the keys, and none that is absent or empty", () => {
  expect(refusedKeys({ main: "index.js", workflows: [] })).toEqual([]);
  expect(refusedKeys({ assets: { directory: "." } })[0]).toContain(
    'The configuration has "assets"',
  );
});

it("ineffectiveKeys() names triggers, consumers and tail workers", () => {
  expect(ineffectiveKeys({ triggers: { crons: [] } })).toEqual([]);
  const table = {
    triggers: { crons: ["* * * * *"] },
    queues: { consumers: [{ queue: "q" }] },
    tail_consumers: [{ service: "s" }],
  };
  expect(ineffectiveKeys(table)).toHaveLength(3);
});
