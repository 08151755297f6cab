import { expect, test } from "vitest";
import { fieldName, type Path } from "../../base/schema.ts";
import { parseFaults, readDnsConfig } from "./dns-config.ts";

test("readDnsConfig() returns the local defaults without variables", () => {
  const defaults = {
    email: "dev@ledge.local",
    key: "0123456789abcdef0123456789abcdef01234",
    tokens: [],
    hostRule: { hosts: [], origins: [] },
    httpsNames: ["api.cloudflare.com"],
    platformAddresses: ["127.0.0.1"],
    nameRules: "strict",
    nameServers: ["ns1.ledge.local", "ns2.ledge.local"],
    zones: [],
    commentCharactersMax: 100,
    tagsMax: 20,
    recordQuota: 1_000_000,
    batchQuota: 3500,
    faults: [],
    catalog: null,
  };
  expect(readDnsConfig({})).toEqual(defaults);
  expect(readDnsConfig({ DNS_CONFIG: "{}" })).toEqual(defaults);
});

test("readDnsConfig() reads every key of [dns]", () => {
  const given = {
    api_port: 8788,
    port: 8053,
    binding: "DNS",
    email: "a@b.test",
    key: "kkkkkkkkkkkkkkkk",
    tokens: [
      { token: "first-token", zones: ["Example.org."], read_only: true },
      { token: "other-token" },
    ],
    api_hosts: ["DNS.internal", "192.0.2.7", "[2001:DB8::0:7]", "2001:db8::8"],
    api_origins: ["http://app.example:3000"],
    https_names: ["API.Example.org."],
    platform_addresses: ["127.0.0.1", "2001:DB8::0:1"],
    name_rules: "dns",
    name_servers: ["NS.Example.org."],
    zones: [{ name: "Bücher.example", records: [{ type: "A" }] }, { name: "x.test" }],
    comment_length: 500,
    tag_quota: 5,
    record_quota: 10,
    batch_quota: 20,
    faults: [{ status: 429, times: 1 }],
    transfers: { allow: ["127.0.0.1"], catalog: "Catalog.Example.org." },
  };
  expect(readDnsConfig({ DNS_CONFIG: JSON.stringify(given) })).toEqual({
    email: "a@b.test",
    key: "kkkkkkkkkkkkkkkk",
    tokens: [
      { token: "first-token", zones: ["example.org"], readOnly: true },
      { token: "other-token", zones: null, readOnly: false },
    ],
    hostRule: {
      hosts: ["dns.internal", "192.0.2.7", "2001:db8::7", "2001:db8::8"],
      origins: ["http://app.example:3000"],
    },
    httpsNames: ["api.example.org"],
    platformAddresses: ["127.0.0.1", "2001:db8::1"],
    nameRules: "dns",
    nameServers: ["ns.example.org"],
    zones: [
      { name: "xn--bcher-kva.example", records: [{ type: "A" }] },
      { name: "x.test", records: [] },
    ],
    commentCharactersMax: 500,
    tagsMax: 5,
    recordQuota: 10,
    batchQuota: 20,
    faults: [
      {
        method: null,
        path: "*",
        status: 429,
        delayMilliseconds: 0,
        after: 0,
        times: 1,
        when: "before",
      },
    ],
    catalog: "catalog.example.org",
  });
});

test.each([
  ["{", "DNS_CONFIG is not JSON"],
  ["[]", "DNS_CONFIG must be a table, not a list"],
  ['{"emial":"x"}', "dns.emial is not a key"],
  ['{"__proto__":"x"}', "dns.__proto__ is not a key"],
  ['{"email":""}', "dns.email must be an e-mail address"],
  ['{"email":"nobody"}', "dns.email must be an e-mail address"],
  ['{"key":"too short"}', "dns.key must have 16 to 128 letters"],
  ['{"tokens":[{"token":"short"}]}', "dns.tokens[0].token must have 8 to 512 characters"],
  ['{"tokens":{}}', "dns.tokens must be a list"],
  ['{"tokens":[{"read_only":true}]}', "dns.tokens[0].token is missing"],
  ['{"tokens":[{"token":"some-token","read_only":1}]}', "dns.tokens[0].read_only"],
  ['{"api_hosts":"dns.internal"}', "dns.api_hosts must be a list"],
  ['{"api_hosts":["dns.internal:80"]}', "dns.api_hosts[0] must be a host name or an address"],
  ['{"api_hosts":["*"]}', "dns.api_hosts[0] must be a host name or an address"],
  ['{"api_origins":["app.example"]}', "dns.api_origins[0] must be an origin"],
  ['{"api_origins":["*"]}', "dns.api_origins[0] must be an origin"],
  ['{"platform_addresses":["x"]}', "dns.platform_addresses[0] must be an IPv4"],
  ['{"name_rules":"loose"}', "dns.name_rules"],
  ['{"zones":[{}]}', "dns.zones[0].name is missing"],
  ['{"zones":[{"name":5}]}', "dns.zones[0].name must be text, not a number"],
  ['{"zones":[{"name":"a b"}]}', "dns.zones[0].name must be a hostname"],
  ['{"zones":[{"name":"x","records":[1]}]}', "dns.zones[0].records[0] must be a table"],
  ['{"comment_length":-1}', "dns.comment_length must be a whole number"],
  ['{"faults":[{}]}', "dns.faults[0] needs a status"],
])("readDnsConfig() refuses %s", (json, reason) =>
  expect(() => readDnsConfig({ DNS_CONFIG: json })).toThrow(reason),
);

test("readDnsConfig() reads secrets from their own variables", () => {
  const config = readDnsConfig({
    DNS_CONFIG: '{"email":"a@b.test","tokens":[{"token":"token-one"}]}',
    DNS_EMAIL: "c@d.test",
    DNS_KEY: "secret-0123456789",
    DNS_TOKENS: '[{"token":"token-two","read_only":true}]',
  });
  expect(config).toMatchObject({ email: "c@d.test", key: "secret-0123456789" });
  expect(config.tokens).toEqual([
    { token: "token-one", zones: null, readOnly: false },
    { token: "token-two", zones: null, readOnly: true },
  ]);
  expect(() => readDnsConfig({ DNS_KEY: "short" })).toThrow("DNS_KEY must have 16 to 128 letters");
  expect(() => readDnsConfig({ DNS_EMAIL: "nobody" })).toThrow(
    "DNS_EMAIL must be an e-mail address",
  );
  expect(() => readDnsConfig({ DNS_TOKENS: "x" })).toThrow("DNS_TOKENS is not JSON");
  expect(() => readDnsConfig({ DNS_TOKENS: "[{}]" })).toThrow("DNS_TOKENS[0].token");
});

test("parseFaults() fills in the defaults", () => {
  expect(parseFaults([{ delay_ms: 5, method: "post" }], () => {})).toEqual([
    {
      method: "POST",
      path: "*",
      status: null,
      delayMilliseconds: 5,
      after: 0,
      times: null,
      when: "before",
    },
  ]);
});

test.each([
  [7, "faults[0] must be a table"],
  [{}, "faults[0] needs a status or a delay_ms"],
  [{ status: 200 }, "faults[0].status must be a whole number from 400 to 599"],
  [{ status: 600 }, "faults[0].status must be a whole number from 400 to 599"],
  [{ delay_ms: 1e9 }, "faults[0].delay_ms must be a whole number from 0 to 60000"],
  [{ status: 500, when: "later" }, 'faults[0].when must be "before" or "after"'],
  [{ status: 500, times: -1 }, "faults[0].times must be a whole number"],
  [{ status: 500, path: 1 }, "faults[0].path must be text"],
  [{ status: 500, method: 1 }, "faults[0].method must be text"],
])("parseFaults() refuses %j", (fault, reason) => {
  const mistakes: string[] = [];
  const report = (path: Path, problem: string): void =>
    void mistakes.push(`${fieldName(path)} ${problem}`);
  expect(parseFaults([fault], report)).toBeNull();
  expect(mistakes).toEqual([expect.stringContaining(reason)]);
});
