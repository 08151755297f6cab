/** openapi.yaml and the worker say the same: operations, parameters, shapes and error codes. */
import { readFile } from "node:fs/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { problem, type Problem } from "../../src/dns/record/problem.ts";
import { recordTypes } from "../../src/dns/record/types.ts";
import { Client, type Answer } from "../dns/support/client.ts";
import { startServer } from "../dns/support/server.ts";

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly $ref: string }[];
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly parameters: Readonly<Record<string, { readonly name: string; readonly in: string }>>;
    readonly schemas: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
  };
  readonly "x-error-codes": readonly { readonly code: number; readonly status: number }[];
}

const httpMethods = ["get", "post", "put", "patch", "delete"];
const file = new URL("../../openapi.yaml", import.meta.url);
const document = parse(await readFile(file, "utf8")) as Document;
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, "openapi");

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

/** Where an answer does not fit the schema of its operation, or of a failure without one. */
function misfits(path: string, method: string | null, { body }: Answer): readonly unknown[] {
  const place = path.replaceAll("~", "~0").replaceAll("/", "~1");
  const pointer =
    method === null
      ? "components/schemas/Failure"
      : `paths/${place}/${method}/responses/200/content/application~1json/schema`;
  const validate = ajv.compile({ $ref: `openapi#/${pointer}` });
  validate(body);
  return validate.errors ?? [];
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
    const answer = await (bodies[operationId]?.() ?? client.call(method.toUpperCase(), fill(path)));
    expect([answer.status, answer.body?.errors ?? []]).toEqual([200, []]);
    const [type] = Object.keys(responses["200"]!.content!);
    expect(answer.headers.get("content-type")).toContain(type);
    expect(type === "text/plain" ? [] : misfits(path, method, answer)).toEqual([]);
  });
});

test("nothing is served that is not described", async () => {
  const source = await readFile(new URL("../../worker/api/operations.ts", import.meta.url), "utf8");
  const [, ...parts] = source.split(/^ {2}"(\/[^"]*)": \{/m);
  const served = parts.flatMap((path, index) => {
    if (index % 2 === 1) return [];
    const methods = parts[index + 1]!.matchAll(/(?:^ {4}|^ )(?:async )?([A-Z]{3,6})[:(]/gm);
    return [...methods].map(([, method]) => `${method!.toLowerCase()} ${path}`);
  });
  expect(served.sort()).toEqual(operations.map(([method, path]) => `${method} ${path}`).sort());
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
      expect(misfits(template, null, answer)).toEqual([]);
    }
  }
});

test("the parameters of a list are those that are read", async () => {
  const queryFile = new URL("../../src/dns/rules/list-query.ts", import.meta.url);
  const source = await readFile(queryFile, "utf8");
  const described = document.paths["/zones/{zone}/dns_records"]!["get"]!.parameters!.map(
    ({ $ref }) => document.components.parameters[$ref.split("/").at(-1)!]!.name,
  );
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
