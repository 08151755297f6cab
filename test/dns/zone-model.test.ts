/** Property: after any sequence of writes, the zone lists, counts and finds what a model does. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Envelope } from "./support/client.ts";
import { propertyRuns } from "../support/property-runs.ts";
import { useServer } from "./support/use.ts";

interface Model {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly comment: string | null;
}

const { client } = await useServer();

const tags = fc.subarray(["a:1", "a:2", "b:1"]);
const comment = fc.constantFrom(null, "one", "Two");
const body = fc.oneof(
  fc.record({
    type: fc.constant("A"),
    content: fc.constantFrom("192.0.2.1", "192.0.2.2"),
    tags,
    comment,
  }),
  fc.record({ type: fc.constant("TXT"), content: fc.constantFrom("x", "Y z"), tags, comment }),
  fc.record({ type: fc.constant("CNAME"), content: fc.constant("t.test"), tags, comment }),
);
const name = fc.constantFrom("a", "b", "c", "d");
const which = fc.nat(20);
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("create" as const), which, name, body }) },
  fc.record({ kind: fc.constant("put" as const), which, name, body }),
  fc.record({ kind: fc.constant("patch" as const), which, name, body }),
  fc.record({ kind: fc.constant("delete" as const), which, name, body }),
);
type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

/** The rules for records at one name, in their shortest form. */
function conflicts(
  model: ReadonlyMap<string, Model>,
  draft: Omit<Model, "id">,
  id: string,
): boolean {
  return [...model.values()].some((other) => {
    if (other.id === id || other.name !== draft.name) return false;
    const types = new Set([other.type, draft.type]);
    const clash = types.has("CNAME") && !types.has("TXT");
    return clash || (other.type === draft.type && other.content === draft.content);
  });
}

async function apply(
  path: string,
  model: Map<string, Model>,
  { kind, which: index, name: label, body: given }: Operation,
) {
  const target = [...model.values()][index % Math.max(1, model.size)];
  if (kind !== "create" && target === undefined) return;
  const id = kind === "create" ? "" : target!.id;
  if (kind === "delete") {
    await client.ok("DELETE", `${path}/${id}`);
    model.delete(id);
    return;
  }
  const { content, ...rest } = given;
  const draft = {
    ...rest,
    name: `${label}.model.example`,
    content: given.type === "TXT" ? `"${content}"` : content,
  };
  const method = { create: "POST", put: "PUT", patch: "PATCH" }[kind];
  const answer = await client.call(method, kind === "create" ? path : `${path}/${id}`, {
    ...given,
    name: label,
  });
  expect(answer.body.success).toBe(!conflicts(model, draft, id));
  if (answer.body.success)
    model.set(answer.body.result.id, { ...draft, id: answer.body.result.id });
}

function total({ result_info }: Envelope): number {
  return result_info!["total_count"]!;
}

const filters: Readonly<Record<string, (record: Model) => boolean>> = {
  "type=A": ({ type }) => type === "A",
  "type=TXT": ({ type }) => type === "TXT",
  "type=CNAME": ({ type }) => type === "CNAME",
  "tag=a:1": (record) => record.tags.includes("a:1"),
  "tag.present=b": (record) => record.tags.includes("b:1"),
  "tag.absent=a": (record) => !record.tags.some((tag) => tag.startsWith("a:")),
  "comment=two": (record) => record.comment === "Two",
  "content=y z": ({ content }) => content === '"Y z"',
  "name=a.model.example": (record) => record.name === "a.model.example",
};

/** All records, and the records that each filter finds, in a stable order. */
async function readZone(path: string): Promise<Record<string, unknown>> {
  const { record_usage } = await client.ok("GET", `${path}/usage`);
  const found: Record<string, unknown> = { usage: record_usage };
  for (const query of ["", ...Object.keys(filters)]) {
    const { body: answer } = await client.call("GET", `${path}?${query}`);
    const ids = (answer.result as Model[]).map((record) => describe(record)).sort();
    found[query] = [total(answer), ids];
  }
  return found;
}

function expected(model: ReadonlyMap<string, Model>): Record<string, unknown> {
  const all = [...model.values()];
  const found: Record<string, unknown> = { usage: all.length };
  for (const [query, matches] of Object.entries({ "": () => true, ...filters })) {
    const ids = all.filter(matches).map(describe).sort();
    found[query] = [ids.length, ids];
  }
  return found;
}

function describe(record: Model): string {
  const { id, type, name: owner, content, tags: marks, comment: remark } = record;
  return JSON.stringify([id, type, owner, content, marks, remark]);
}

test("a zone agrees with the model after any sequence of writes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 40 }), async (operations) => {
      const zoneId = await client.createZone("model.example");
      const path = `/zones/${zoneId}/dns_records`;
      const model = new Map<string, Model>();
      try {
        for (const one of operations) await apply(path, model, one);
        expect(await readZone(path)).toEqual(expected(model));
      } finally {
        await client.ok("DELETE", `/zones/${zoneId}`);
      }
    }),
    { numRuns: propertyRuns({ few: 12, all: 30 }), endOnFailure: true },
  );
});
