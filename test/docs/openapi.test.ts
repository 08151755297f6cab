/** openapi.yaml and the worker say the same: operations, parameters, shapes and error codes. */
import { readFile } from "node:fs/promises";
import { registerHooks } from "node:module";
import { afterAll, describe, expect, test } from "vitest";
import { problem, type Problem } from "../../src/dns/record/problem.ts";
import { recordTypes } from "../../src/dns/record/types.ts";
import { Client, type Answer } from "../dns/support/client.ts";
import { document, httpMethods, parameterNames } from "../dns/support/openapi.ts";
import { startServer } from "../dns/support/server.ts";

const token = "openapi-token-1";
const server = await startServer({ config: { tokens: [{ token }] } });
const client = new Client(server.url, { authorization: `Bearer ${token}` });
const zoneId = await client.createZone("openapi.example");
const recordId = (
  await client.ok("POST", `/zones/${zoneId}/dns_records`, {
    type: "A",
    name: "@",
    content: "192.0.2.1",
  })
).id;
const accountId = (await client.ok("GET", "/accounts"))[0].id;
afterAll(() => server.stop());

function fill(template: string): string {
  return template
    .replace("{zone}", zoneId)
    .replace("{record}", recordId)
    .replace("{account}", accountId)
    .replace("{setting}", "http3");
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  httpMethods
    .filter((method) => methods[method] !== undefined)
    .map((method) => [method, path] as const),
);

/** What is sent to an operation that wants a body; the last ones end what the others use. */
const bodies: Readonly<Record<string, () => Promise<Answer>>> = {
  createZone: () => client.call("POST", "/zones", { name: "more.example" }),
  editZone: () =>
    client.call("PATCH", fill("/zones/{zone}"), {
      paused: true,
      vanity_name_servers: ["ns.x.test"],
    }),
  editDnsSettings: () =>
    client.call("PATCH", fill("/zones/{zone}/dns_settings"), {
      ns_ttl: 60,
      nameservers: { type: "custom.zone" },
    }),
  editDnssec: () => client.call("PATCH", fill("/zones/{zone}/dnssec"), { status: "active" }),
  purgeCache: () =>
    client.call("POST", fill("/zones/{zone}/purge_cache"), { purge_everything: true }),
  editSettings: () =>
    client.call("PATCH", fill("/zones/{zone}/settings"), { items: [{ id: "ssl", value: "full" }] }),
  editSetting: () => client.call("PATCH", fill("/zones/{zone}/settings/http3"), { value: "off" }),
  createRecord: () =>
    client.call("POST", fill("/zones/{zone}/dns_records"), {
      type: "SRV",
      name: "_a._b",
      data: { priority: 1, weight: 2, port: 3, target: "x.test" },
      comment: "c",
      tags: ["a:b"],
    }),
  overwriteRecord: () =>
    client.call("PUT", fill("/zones/{zone}/dns_records/{record}"), {
      type: "A",
      name: "@",
      content: "192.0.2.2",
      settings: { ipv4_only: true },
    }),
  editRecord: () => client.call("PATCH", fill("/zones/{zone}/dns_records/{record}"), { ttl: 300 }),
  batchRecords: () =>
    client.call("POST", fill("/zones/{zone}/dns_records/batch"), {
      patches: [{ id: recordId, ttl: 60 }],
      puts: [{ id: recordId, type: "A", name: "@", content: "192.0.2.3" }],
      posts: [{ type: "MX", name: "@", content: "x.test", priority: 1 }],
    }),
  importZone: () => client.importFile(zoneId, "imported TXT x"),
};

describe("every operation that is described is served, and its answer fits", () => {
  const last = ["deleteRecord", "deleteZone"];
  const ordered = operations.toSorted(
    ([one, a], [other, b]) =>
      last.indexOf(document.paths[a]![one]!.operationId) -
      last.indexOf(document.paths[b]![other]!.operationId),
  );
  test.each(ordered)("%s %s", async (method, path) => {
    const { operationId, responses } = document.paths[path]![method]!;
    // The client compares the answer with its schema.
    const answer = await (bodies[operationId]?.() ?? client.call(method.toUpperCase(), fill(path)));
    const isRefused = responses["200"] === undefined;
    const codes = answer.body?.errors.map(({ code }) => code) ?? [];
    expect([answer.status, codes]).toEqual(isRefused ? [400, [9439]] : [200, []]);
  });
});

test("nothing is served that is not described", async () => {
  // The base classes of the worker's objects are in workerd only.
  const classes = "data:text/javascript,export const DurableObject = Object";
  const hooks = registerHooks({
    resolve: (name, context, next) =>
      name === "cloudflare:workers" ? { url: classes, shortCircuit: true } : next(name, context),
  });
  const table = "../../worker/api/operations.ts";
  const served = (await import(table)) as { operations: Record<string, object> };
  hooks.deregister();
  const names = Object.entries(served.operations).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toLowerCase()} ${path}`),
  );
  expect(names.sort()).toEqual(operations.map(([method, path]) => `${method} ${path}`).sort());
});

test("methods that are not described are refused, as a failure that fits", async () => {
  const zone = await client.createZone("methods.example");
  const path = (template: string) => fill(template).replace(zoneId, zone);
  for (const template of Object.keys(document.paths)) {
    for (const method of httpMethods.filter(
      (one) => document.paths[template]![one] === undefined,
    )) {
      const answer = await client.call(method.toUpperCase(), path(template));
      expect([method, template, answer.status]).toEqual([method, template, 405]);
    }
  }
});

test("the parameters of a list are those that are read", async () => {
  const queryFile = new URL("../../src/dns/rules/list-query.ts", import.meta.url);
  const source = await readFile(queryFile, "utf8");
  const described = parameterNames(document.paths["/zones/{zone}/dns_records"]!["get"]!);
  const operators = ["exact", "contains", "startswith", "endswith"];
  const texts = ["name", "content", "comment", "tag"].flatMap((name) =>
    ["", ...operators].map((operator) => (operator === "" ? name : `${name}.${operator}`)),
  );
  const named = [
    ...source.matchAll(
      /"((?:comment|tag)\.(?:present|absent))"|\(source, "(\w+)"|get\("(type|search)"\)/g,
    ),
  ].map(([, dotted, choice, plain]) => dotted ?? choice ?? plain!);
  expect(described.toSorted()).toEqual([...new Set([...texts, ...named])].toSorted());
});

test("the record types and the error codes are those of the worker", () => {
  const types = [...recordTypes.values()]
    .filter(({ managedBy }) => managedBy === null)
    .map(({ type }) => type);
  expect(document.components.schemas["RecordType"]!.enum!.toSorted()).toEqual(types.toSorted());
  const makers = Object.values(problem) as unknown as readonly ((
    ...details: unknown[]
  ) => Problem)[];
  const codes = makers.flatMap((make) => {
    const { code, error_chain = [] } = make("", [], []);
    return [{ code }, ...error_chain].map((link) => link.code);
  });
  expect(document["x-error-codes"].map(({ code }) => code)).toEqual(
    [...new Set(codes)].sort((a, b) => a - b),
  );
});
