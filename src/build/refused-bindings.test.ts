import { describe, expect, it } from "vitest";
import { ineffectiveKeys, refusedBindings, refusedKeys } from "./refused-bindings.ts";

describe("refusedBindings()", () => {
  it("names each binding that workerd does not have", () => {
    const sentences = refusedBindings(
      [
        { name: "TEXT", type: "plain_text", text: "" },
        { name: "CACHE", type: "queue" },
        { name: "DB", type: "d1" },
        { name: "NEW", type: "something_new" },
      ],
      false,
    );
    expect(sentences.map((sentence) => sentence.split(". ")[0])).toEqual([
      'The binding "CACHE" is a queue, which workerd alone does not have',
      'The binding "DB" is a D1 database, which workerd alone does not have',
      'The binding "NEW" is of the type "something_new", which workerd alone does not have',
    ]);
  });

  it("says what a KV namespace lacks", () => {
    const bindings = [{ name: "CACHE", type: "kv_namespace", namespace_id: "x" }];
    expect(refusedBindings(bindings, true)).toEqual([]);
    expect(refusedBindings(bindings, false)[0]).toContain('add kv_bucket = "BUCKET"');
    const withoutId = [{ name: "CACHE", type: "inherit" }];
    expect(refusedBindings(withoutId, true)[0]).toContain("add the id of the KV namespace");
  });

  it("refuses Durable Objects of another script only", () => {
    const type = "durable_object_namespace";
    expect(refusedBindings([{ name: "OWN", type, class_name: "Counter" }], false)).toEqual([]);
    const [sentence] = refusedBindings(
      [{ name: "OTHER", type, class_name: "C", script_name: "api" }],
      false,
    );
    expect(sentence).toContain('"OTHER" is a Durable Object of the script "api"');
  });
});

it("refusedKeys() names the keys, and none that is absent or empty", () => {
  expect(refusedKeys({ main: "index.js", workflows: [] })).toEqual([]);
  const [sentence] = refusedKeys({ assets: { directory: "." } });
  expect(sentence).toContain('The configuration has "assets"');
  expect(sentence).toContain("Environments inherit the key");
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
