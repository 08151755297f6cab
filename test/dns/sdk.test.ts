/** The official TypeScript SDK against the worker; only its base URL is changed. */
import Cloudflare, { NotFoundError } from "cloudflare";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { email, key } from "./support/client.ts";
import { checkedFetch } from "./support/openapi.ts";
import { rdataOf, recordArbitrary } from "./support/record-arbitrary.ts";
import { startServer } from "./support/server.ts";

const server = await startServer({ config: { tokens: [{ token: "sdk-token-0123456789" }] } });
const sdk = new Cloudflare({
  apiEmail: email,
  apiKey: key,
  baseURL: server.url,
  maxRetries: 0,
  fetch: checkedFetch,
});
const zone_id = (await sdk.zones.create({ account: {}, name: "sdk.example" })).id;
afterAll(() => server.stop());

type CreateParams = Parameters<typeof sdk.dns.records.create>[0];

async function collect<Item>(pages: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of pages) items.push(item);
  return items;
}

test("the SDK creates, lists, gets, edits and deletes zones", async () => {
  const zone = await sdk.zones.create({ account: {}, name: "zones.example", type: "full" });
  expect(await sdk.zones.get({ zone_id: zone.id })).toEqual(zone);
  const named = await collect(sdk.zones.list({ name: "zones.example" }));
  expect(named.map(({ id }) => id)).toEqual([zone.id]);
  expect((await collect(sdk.zones.list())).map(({ name }) => name)).toEqual([
    "sdk.example",
    "zones.example",
  ]);
  expect((await sdk.zones.edit({ zone_id: zone.id, paused: true })).paused).toBe(true);
  await expect(sdk.zones.create({ account: {}, name: "zones.example" })).rejects.toMatchObject({
    status: 400,
    errors: [{ code: 1061, message: "zones.example already exists" }],
  });
  expect(await sdk.zones.delete({ zone_id: zone.id })).toEqual({ id: zone.id });
  await expect(sdk.zones.get({ zone_id: zone.id })).rejects.toBeInstanceOf(NotFoundError);
});

describe("the SDK creates, gets, lists, updates, edits and deletes a record of type", () => {
  test.each(Object.keys(rdataOf))("%s", async (type) => {
    const records = fc.sample(recordArbitrary(type), { numRuns: 3, seed: 7 });
    for (const [index, request] of records.entries()) {
      const name = `${type.toLowerCase()}-${index}.types.sdk.example`;
      const created = await sdk.dns.records.create({
        ...request,
        name,
        zone_id,
      } as unknown as CreateParams);
      expect(created).toMatchObject({ type, name });
      expect(await sdk.dns.records.get(created.id, { zone_id })).toEqual(created);
      const listed = await sdk.dns.records.list({ zone_id, name: { exact: name } });
      expect(listed.result).toEqual([created]);

      const edited = await sdk.dns.records.edit(created.id, {
        zone_id,
        comment: "edited",
      } as never);
      const dates = { modified_on: edited.modified_on, comment_modified_on: edited.modified_on };
      expect(edited).toEqual({ ...created, comment: "edited", ...dates });
      const updated = await sdk.dns.records.update(created.id, {
        ...request,
        comment: "updated",
        tags: [],
        name,
        zone_id,
      } as never);
      expect(updated).toMatchObject({
        id: created.id,
        content: created.content,
        comment: "updated",
        tags: [],
      });
      expect(await sdk.dns.records.delete(created.id, { zone_id })).toEqual({ id: created.id });
      await expect(sdk.dns.records.get(created.id, { zone_id })).rejects.toMatchObject({
        status: 404,
        errors: [{ code: 81044 }],
      });
    }
  });
});

test("the SDK lists records over several pages, with filters and orders", async () => {
  const posts = Array.from({ length: 230 }, (_, index) => ({
    type: "A" as const,
    name: `page-${String(index).padStart(3, "0")}`,
    content: `192.0.2.${index % 250}`,
    ttl: 300,
    tags: [`n:${index % 10}`],
    comment: index % 2 === 0 ? "even" : "odd",
  }));
  await sdk.dns.records.batch({ zone_id, posts });
  const filter = { zone_id, name: { startswith: "page-" }, order: "name" as const };
  const all = await collect(sdk.dns.records.list({ ...filter, per_page: 50 }));
  expect(all.map(({ name }) => name)).toEqual(posts.map(({ name }) => `${name}.sdk.example`));
  const last = await sdk.dns.records.list({ ...filter, per_page: 100, page: 3 });
  expect(last.result).toHaveLength(30);
  expect(last.result_info).toMatchObject({
    page: 3,
    per_page: 100,
    count: 30,
    total_count: 230,
    total_pages: 3,
  });
  const tagged = await collect(
    sdk.dns.records.list({
      ...filter,
      tag: { exact: "n:3" },
      comment: { exact: "ODD" },
      type: "A",
      direction: "desc",
    }),
  );
  expect(tagged).toHaveLength(23);
  expect(tagged[0]!.name).toBe("page-223.sdk.example");
});

test("the SDK sends batches, exports and imports", async () => {
  const source = (await sdk.zones.create({ account: {}, name: "copy.example" })).id;
  const made = await sdk.dns.records.batch({
    zone_id: source,
    posts: [
      { type: "A", name: "a", content: "192.0.2.1", ttl: 60 },
      { type: "MX", name: "@", content: "a.copy.example", priority: 5, ttl: 1 },
      { type: "TXT", name: "t", content: '"one" "two"', ttl: 1 },
    ],
  });
  const changed = await sdk.dns.records.batch({
    zone_id: source,
    deletes: [{ id: made.posts![0]!.id }],
    patches: [{ id: made.posts![1]!.id, priority: 7 } as never],
    puts: [{ id: made.posts![2]!.id, type: "TXT", name: "t", content: "three", ttl: 120 }],
    posts: [{ type: "AAAA", name: "a", content: "2001:db8::1", ttl: 60 }],
  });
  expect(changed.deletes![0]!.id).toBe(made.posts![0]!.id);
  expect(changed.patches![0]).toMatchObject({ priority: 7 });
  expect(changed.puts![0]).toMatchObject({ content: '"three"', ttl: 120 });
  expect(changed.posts![0]).toMatchObject({ type: "AAAA" });

  const file = await sdk.dns.records.export({ zone_id: source });
  expect(file).toContain("copy.example.\t1\tIN\tMX\t7 a.copy.example.");
  await sdk.zones.delete({ zone_id: source });
  const target = (await sdk.zones.create({ account: {}, name: "copy.example" })).id;
  const imported = await sdk.dns.records.import({ zone_id: target, file });
  expect(imported).toEqual({ recs_added: 3, total_records_parsed: 5 });
  expect(await sdk.dns.usage.zone.get({ zone_id: target })).toMatchObject({ record_usage: 3 });
});

test("the SDK reads settings, accounts and the user", async () => {
  expect(await sdk.dns.settings.zone.get({ zone_id })).toMatchObject({ flatten_all_cnames: false });
  const edited = await sdk.dns.settings.zone.edit({
    zone_id,
    flatten_all_cnames: true,
    ns_ttl: 3600,
  });
  expect(edited).toMatchObject({ flatten_all_cnames: true, ns_ttl: 3600 });
  expect(await sdk.zones.settings.edit("http3", { zone_id, value: "off" })).toMatchObject({
    id: "http3",
    value: "off",
  });
  expect(await sdk.zones.settings.get("http2", { zone_id })).toMatchObject({
    id: "http2",
    value: "on",
  });
  expect(await sdk.user.get()).toMatchObject({ email });
  expect(await collect(sdk.accounts.list())).toHaveLength(1);
  const bearer = new Cloudflare({
    apiToken: "sdk-token-0123456789",
    baseURL: server.url,
    maxRetries: 0,
  });
  expect(await bearer.user.tokens.verify()).toMatchObject({ status: "active" });
});
