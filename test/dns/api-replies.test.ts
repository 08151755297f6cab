/** The replies of the specification's examples: their fields, and the order of the fields. */
import { describe, expect, test } from "vitest";
import { email, key } from "./support/client.ts";
import { checkedFetch } from "./support/openapi.ts";
import { useServer } from "./support/use.ts";

const { server, client } = await useServer();
const zoneId = await client.createZone("example.com");

const id = expect.stringMatching(/^[0-9a-f]{32}$/);
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);
const meta = {
  auto_added: false,
  managed_by_apps: false,
  managed_by_argo_tunnel: false,
  source: "primary",
};

async function post(body: unknown) {
  const response = await checkedFetch(`${server.url}/zones/${zoneId}/dns_records`, {
    method: "POST",
    headers: { "X-Auth-Email": email, "X-Auth-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  const envelope = (await response.json()) as Record<string, unknown>;
  expect(envelope).toMatchObject({ success: true, errors: [], messages: [] });
  expect(Object.keys(envelope)).toEqual(["result", "success", "errors", "messages"]);
  return envelope["result"] as Record<string, unknown>;
}

describe("POST with an e-mail and a key creates", () => {
  test("an A record", async () => {
    const record = await post({
      type: "A",
      name: "www",
      content: "198.51.100.4",
      ttl: 3600,
      proxied: true,
    });
    expect(record).toEqual({
      id,
      zone_id: zoneId,
      zone_name: "example.com",
      name: "www.example.com",
      type: "A",
      content: "198.51.100.4",
      proxiable: true,
      proxied: true,
      ttl: 1,
      locked: false,
      settings: {},
      meta,
      comment: null,
      tags: [],
      created_on: time,
      modified_on: time,
    });
    expect(Object.keys(record)[0]).toBe("id");
  });

  test("a CNAME record", async () => {
    const record = await post({
      type: "CNAME",
      name: "blog",
      content: "www.example.com",
      ttl: 120,
      comment: "the blog",
      tags: ["team:web"],
    });
    expect(record).toMatchObject({
      name: "blog.example.com",
      type: "CNAME",
      content: "www.example.com",
      proxiable: true,
      proxied: false,
      ttl: 120,
      comment: "the blog",
      tags: ["team:web"],
    });
  });

  test("an SRV record, whose content is weight, port and target", async () => {
    const data = { priority: 10, weight: 5, port: 8806, target: "example.com" };
    const record = await post({ type: "SRV", name: "_sip._tcp", data });
    expect(record).toEqual({
      id,
      zone_id: zoneId,
      zone_name: "example.com",
      name: "_sip._tcp.example.com",
      type: "SRV",
      content: "5 8806 example.com",
      proxiable: false,
      proxied: false,
      ttl: 1,
      locked: false,
      priority: 10,
      data,
      settings: {},
      meta,
      comment: null,
      tags: [],
      created_on: time,
      modified_on: time,
    });
  });

  test("an SRV record whose owner is given in three parts", async () => {
    const data = {
      service: "_xmpp",
      proto: "_tcp",
      name: "@",
      priority: "1",
      weight: "2",
      port: "3",
      target: "x.test.",
    };
    expect(await post({ type: "SRV", data })).toMatchObject({
      name: "_xmpp._tcp.example.com",
      content: "2 3 x.test",
      data: { priority: 1, weight: 2, port: 3, target: "x.test" },
    });
  });
});

describe("POST creates the structured record", () => {
  test.each<[Record<string, unknown>, Record<string, unknown>]>([
    [
      { type: "MX", content: "Mail.Example.COM.", priority: 10 },
      { content: "mail.example.com", priority: 10 },
    ],
    [
      { type: "CAA", data: { flags: "0", tag: "issue", value: "ca.example" } },
      { content: '0 issue "ca.example"', data: { flags: 0, tag: "issue", value: "ca.example" } },
    ],
    [
      { type: "HTTPS", data: { priority: 1, target: ".", value: "alpn=h3,h2" } },
      { content: '1 . alpn="h3,h2"', data: { priority: 1, target: ".", value: 'alpn="h3,h2"' } },
    ],
    [
      { type: "URI", priority: 10, data: { weight: 1, target: "https://x.test/" } },
      {
        content: '1 "https://x.test/"',
        priority: 10,
        data: { weight: 1, target: "https://x.test/" },
      },
    ],
    [{ type: "AAAA", content: "2001:DB8:0:0::1" }, { content: "2001:db8::1" }],
    [{ type: "TXT", content: "no quotes" }, { content: '"no quotes"' }],
    [
      { type: "SPF", content: "v=spf1 -all" },
      { type: "TXT", content: '"v=spf1 -all"' },
    ],
    [
      { type: "DMARC", name: "_dmarc", content: "v=DMARC1; p=none" },
      { type: "TXT", content: '"v=DMARC1; p=none"' },
    ],
    [
      { type: "DKIM", name: "s._domainkey", content: "v=DKIM1; p=AQID" },
      { type: "TXT", content: '"v=DKIM1; p=AQID"' },
    ],
  ])("%j", async (request, expected) => {
    const record = await post({ name: `${String(request["type"])}-x`.toLowerCase(), ...request });
    expect(record).toMatchObject(expected);
    expect(await client.ok("GET", `/zones/${zoneId}/dns_records/${String(record["id"])}`)).toEqual(
      record,
    );
  });
});

test("GET returns the zone, its settings, the user and the accounts", async () => {
  expect(await client.ok("GET", `/zones/${zoneId}`)).toMatchObject({
    id: zoneId,
    name: "example.com",
    status: "active",
    name_servers: ["ns1.ledge.local", "ns2.ledge.local"],
  });
  expect(await client.ok("GET", `/zones/${zoneId}/dns_settings`)).toEqual({
    flatten_all_cnames: false,
    foundation_dns: false,
    multi_provider: false,
    nameservers: { type: "cloudflare.standard" },
    ns_ttl: 86_400,
    secondary_overrides: false,
    soa: {
      expire: 604_800,
      min_ttl: 1800,
      mname: "ns1.ledge.local",
      refresh: 10_000,
      retry: 2400,
      rname: "dns.ledge.local",
      ttl: 3600,
    },
    zone_mode: "standard",
  });
  const settings = `/zones/${zoneId}/dns_settings`;
  const before = await client.serial(zoneId);
  await client.ok("PATCH", settings, { ns_ttl: 3600, soa: { refresh: 7200 } });
  expect(await client.ok("GET", settings)).toMatchObject({
    ns_ttl: 3600,
    soa: { refresh: 7200, retry: 2400 },
  });
  expect(await client.serial(zoneId)).toBe(before + 1);
  await client.ok("PATCH", settings, { ns_ttl: 3600 });
  expect(await client.serial(zoneId)).toBe(before + 1);
  expect(await client.ok("GET", "/user")).toMatchObject({ email });
  expect(await client.ok("GET", "/accounts")).toEqual([
    expect.objectContaining({ id, name: "Local" }),
  ]);
});

test("a path may end in a slash", async () => {
  const answer = await client.call("GET", "/zones/?name=example.com");
  expect(answer.body.result).toEqual([expect.objectContaining({ id: zoneId })]);
  expect(Object.keys(answer.body)).toEqual([
    "result",
    "success",
    "errors",
    "messages",
    "result_info",
  ]);
  expect(answer.body.result_info).toEqual({
    page: 1,
    per_page: 20,
    count: 1,
    total_count: 1,
    total_pages: 1,
  });
});

test("a deleted zone no longer exists, and its name can be used again", async () => {
  const gone = await client.createZone("gone.test");
  const path = `/zones/${gone}/dns_records`;
  await client.ok("POST", path, { type: "A", name: "@", content: "192.0.2.1" });
  expect(await client.ok("DELETE", `/zones/${gone}`)).toEqual({ id: gone });
  const answer = await client.call("GET", path);
  expect([answer.status, answer.body.errors[0]!.code]).toEqual([404, 7003]);
  expect(answer.body.errors[0]!.message).toBe(
    `Could not route to /client/v4/zones/${gone}/dns_records, perhaps your object identifier is invalid?`,
  );
  const recreated = await client.createZone("gone.test");
  expect(recreated).not.toBe(gone);
  expect(await client.ok("GET", `/zones/${recreated}/dns_records`)).toEqual([]);
});
