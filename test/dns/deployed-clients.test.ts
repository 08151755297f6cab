/** Calls and forms of deployed clients, and rules that only the API as a whole can show. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { credentials } from "./support/client.ts";
import { UdpClient } from "./support/dns-client.ts";
import { useDns } from "./support/use.ts";

const running = await useDns({ platform_addresses: ["198.18.0.1", "2001:db8::1"] });
const zoneId = await running.client.createZone("clients.example");
const zone = `/zones/${zoneId}`;
const records = `${zone}/dns_records`;

describe("serials", () => {
  test("a zone that is created again has a later serial than before", async () => {
    const { client } = running;
    const first = await client.createZone("again.example");
    for (const label of ["a", "b", "c", "d", "e"]) {
      const body = { type: "A", name: label, content: "192.0.2.1" };
      await client.ok("POST", `/zones/${first}/dns_records`, body);
    }
    const before = await client.serial(first);
    await client.ok("DELETE", `/zones/${first}`);
    const second = await client.createZone("again.example");
    expect(await client.serial(second)).toBeGreaterThan(before);
  });
});

function get(version: string, header = "", path = "/user"): Socket {
  const { hostname, port, pathname } = new URL(running.dns.url);
  const fields = Object.entries(credentials).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET ${pathname}${path} ${version}\r\nHost: ${hostname}\r\n${fields.join("")}${header}\r\n`,
  );
  return socket;
}

describe("a connection that the client wants closed", () => {
  test.each([
    ["HTTP/1.1", "Connection: close\r\n"],
    ["HTTP/1.0", ""],
  ])("ends with the response (%s, %j)", async (version, header) => {
    const kept = get("HTTP/1.1");
    await once(kept, "data");
    // The server closes the first connection after some seconds without a request.
    const order: string[] = [];
    const idle = once(kept, "close").then(() => order.push("idle"));
    const closed = text(get(version, header)).then((answer) => {
      order.push("closed");
      return answer;
    });
    await Promise.race([idle, closed]);
    expect(order).toEqual(["closed"]);
    expect(await closed).toMatch(/^HTTP\/1\.[01] 200 [^]*"success":true/);
    kept.destroy();
    await idle;
  });

  test("gets a response of many megabytes whole", async () => {
    const { client } = running;
    const large = await client.createZone("large.example");
    const posts = Array.from({ length: 3000 }, (_, index) => ({
      type: "TXT",
      name: `t${index}`,
      content: `"${"x".repeat(250)}" "${"y".repeat(250)}"`,
    }));
    await client.ok("POST", `/zones/${large}/dns_records/batch`, { posts });
    const path = `/zones/${large}/dns_records?per_page=5000`;
    const answer = await text(get("HTTP/1.0", "", path));
    const body = answer.slice(answer.indexOf("\r\n\r\n") + 4);
    expect((JSON.parse(body) as { result: unknown[] }).result).toHaveLength(3000);
  });
});

describe("records", () => {
  test("data that is null counts as missing", async () => {
    const body = { type: "SRV", name: "_sip._tcp", content: "1 2 sip.test", data: null };
    const answer = await running.client.call("POST", records, { ...body, priority: 1 });
    expect(answer.body.errors).toEqual(
      ["weight", "port", "target"].map((name) => ({
        code: 9101,
        message: `${name} is a required data field.`,
      })),
    );
    const a = { type: "A", name: "null-data", content: "192.0.2.1", data: null };
    expect((await running.client.call("POST", records, a)).status).toBe(200);
  });

  test("an MX record needs a priority", async () => {
    const body = { type: "MX", name: "mail", content: "mx.test", data: null };
    const answer = await running.client.call("POST", records, body);
    expect(answer.body.errors).toEqual([{ code: 9100, message: "priority is a required field." }]);
  });

  test("the changes of comments and tags have dates of their own", async () => {
    const { client } = running;
    const made = await client.ok("POST", records, {
      type: "A",
      name: "dated",
      content: "192.0.2.1",
      comment: "one",
    });
    expect(made.comment_modified_on).toBe(made.created_on);
    expect(made).not.toHaveProperty("tags_modified_on");
    const path = `${records}/${made.id}`;
    const tagged = await client.ok("PATCH", path, { tags: ["a:b"] });
    expect(tagged.tags_modified_on).toBe(tagged.modified_on);
    expect(tagged.comment_modified_on).toBe(made.comment_modified_on);
    const bare = await client.ok("PATCH", path, { tags: [], comment: null });
    expect(bare).not.toHaveProperty("tags_modified_on");
    expect(bare).not.toHaveProperty("comment_modified_on");
    expect((await client.ok("GET", path)).modified_on).toBe(bare.modified_on);
  });

  test("private_routing is kept", async () => {
    const { client } = running;
    const body = { type: "A", name: "routed", content: "192.0.2.1", private_routing: true };
    const made = await client.ok("POST", records, body);
    expect(made.private_routing).toBe(true);
    const path = `${records}/${made.id}`;
    expect((await client.ok("PATCH", path, { ttl: 60 })).private_routing).toBe(true);
    expect(await client.exportFile(zoneId)).toContain("cf-private-routing:true");
    const put = await client.ok("PUT", path, { ...body, private_routing: undefined });
    expect(put).not.toHaveProperty("private_routing");
  });
});

describe("imports", () => {
  test("tell which TTLs they changed", async () => {
    const file = "short 0 A 192.0.2.1\nlong 1w A 192.0.2.1\nfine 60 A 192.0.2.1\n";
    const { body } = await running.client.importFile(zoneId, file);
    expect(body.result).toMatchObject({ recs_added: 3 });
    expect(body.messages).toMatchObject([
      { message: expect.stringContaining("Line 1: TTL 0 was changed to 60") },
      { message: expect.stringContaining("Line 2: TTL 604800 was changed to 86400") },
    ]);
  });

  test("name every line that is wrong, in the order of the lines", async () => {
    const file = "a A 192.0.2.1\nb A 300.0.2.1\nc DNAME d\nd AAAA :::\ne MX\n";
    const { body } = await running.client.importFile(zoneId, file);
    const lines = body.errors.map(({ message }) => /^Line (\d+)/.exec(message)?.[1]);
    expect(lines).toEqual(["2", "3", "4", "5"]);
  });
});

describe("endpoints of the zone", () => {
  test("/ips lists the platform's addresses without credentials", async () => {
    const response = await fetch(`${running.dns.url}/ips`);
    const { result } = (await response.json()) as { result: Record<string, unknown> };
    expect(result["ipv4_cidrs"]).toEqual(["198.18.0.1/32"]);
    expect(result["ipv6_cidrs"]).toEqual(["2001:db8::1/128"]);
    expect(result["etag"]).toMatch(/^[0-9a-f]{32}$/);
  });

  test("settings are a table of values that can be changed", async () => {
    const { client } = running;
    const ssl = await client.ok("GET", `${zone}/settings/ssl`);
    expect(ssl).toMatchObject({ id: "ssl", value: "off", editable: true, modified_on: null });
    const edited = await client.ok("PATCH", `${zone}/settings/ssl`, { value: "strict" });
    expect(edited).toMatchObject({ id: "ssl", value: "strict" });
    const items = [
      { id: "min_tls_version", value: "1.2" },
      { id: "http3", value: "off" },
    ];
    await client.ok("PATCH", `${zone}/settings`, { items });
    const all = (await client.ok("GET", `${zone}/settings`)) as { id: string; value: unknown }[];
    const values = new Map(all.map(({ id, value }) => [id, value]));
    expect(values.get("ssl")).toBe("strict");
    expect(values.get("min_tls_version")).toBe("1.2");
    expect(values.get("http3")).toBe("off");
    const wrong = await client.call("PATCH", `${zone}/settings/ssl`, { value: "sometimes" });
    expect(wrong.body.errors[0]?.message).toContain("off, flexible, full, strict");
    expect((await client.call("GET", `${zone}/settings/nonsense`)).status).toBe(404);
  });

  test("activation_check, purge_cache and scans are accepted", async () => {
    const { client } = running;
    expect(await client.ok("PUT", `${zone}/activation_check`)).toEqual({ id: zoneId });
    const purged = await client.ok("POST", `${zone}/purge_cache`, { purge_everything: true });
    expect(purged).toEqual({ id: zoneId });
    expect((await client.call("POST", `${zone}/purge_cache`, {})).status).toBe(400);
    expect(await client.ok("POST", `${records}/scan`)).toMatchObject({ recs_added: 0 });
    await client.ok("POST", `${records}/scan/trigger`);
    expect(await client.ok("GET", `${records}/scan/review`)).toEqual([]);
  });

  test("dns_analytics counts the queries of the zone by name and type", async () => {
    const { client, port } = running;
    await client.ok("POST", records, { type: "A", name: "counted", content: "192.0.2.1" });
    const resolver = new UdpClient(port);
    for (const _ of [1, 2, 3]) await resolver.ask("Counted.clients.example", "A");
    await resolver.ask("counted.clients.example", "AAAA");
    await resolver.ask("missing.clients.example", "A");
    resolver.close();
    await fetch(new URL("/dns-query?name=counted.clients.example&type=A", running.dns.url).href, {
      headers: { accept: "application/dns-json" },
    });
    const query = "dimensions=queryName,queryType,responseCode&metrics=queryCount";
    const report = await client.ok("GET", `${zone}/dns_analytics/report?${query}`);
    expect(report.data).toContainEqual({
      dimensions: ["counted.clients.example", "A", "NOERROR"],
      metrics: [4],
    });
    expect(report.data).toContainEqual({
      dimensions: ["counted.clients.example", "AAAA", "NOERROR"],
      metrics: [1],
    });
    expect(report.data).toContainEqual({
      dimensions: ["missing.clients.example", "A", "NXDOMAIN"],
      metrics: [1],
    });
    expect(report.totals.queryCount).toBeGreaterThanOrEqual(6);
    const byTime = await client.ok("GET", `${zone}/dns_analytics/report/bytime?${query}`);
    expect(byTime.time_intervals).toHaveLength(1);
    expect(byTime.data).toContainEqual({
      dimensions: ["counted.clients.example", "A", "NOERROR"],
      metrics: [[4]],
    });
    const byType = await client.ok("GET", `${zone}/dns_analytics/report?dimensions=queryType`);
    expect(byType.data.map(({ dimensions }: { dimensions: string[] }) => dimensions[0])).toContain(
      "AAAA",
    );
  });
});

/** Recorded: `octodns-sync` with octodns-cloudflare 1.2.0. The first run creates, the second plans no change. */
describe("the calls of octodns", () => {
  const name = "octodns.example";
  const digest = "8755cdaa8fe24ef16cc0f2c918063185e433faaf1415664911d9e30a924138c4";
  const contents = [
    { type: "A", name, content: "192.0.2.1", proxied: false },
    { type: "MX", name, content: `mx.${name}.`, priority: 10 },
    { type: "TXT", name, content: '"other text; with a semicolon"' },
    { type: "CNAME", name: `alias.${name}`, content: `www.${name}.`, proxied: false },
    { type: "NS", name: `sub.${name}`, content: `ns1.sub.${name}.` },
  ];
  const structured = [
    { type: "CAA", name, data: { flags: 0, tag: "issue", value: "ca.example" } },
    { type: "SSHFP", name, data: { algorithm: 4, type: 2, fingerprint: digest } },
    { type: "SVCB", name, data: { priority: 1, target: `svc.${name}.`, value: ' port="8443"' } },
    {
      type: "NAPTR",
      name,
      data: {
        flags: "S",
        order: 10,
        preference: 100,
        regex: "",
        replacement: `_sip._udp.${name}.`,
        service: "SIP+D2U",
      },
    },
    {
      type: "SRV",
      name: `_sip._tcp.${name}`,
      data: {
        service: "_sip",
        proto: "_tcp",
        name: `${name}.`,
        priority: 1,
        weight: 2,
        port: 5060,
        target: `sip.${name}`,
      },
    },
  ];

  test("get what octodns compares", async () => {
    const { client } = running;
    await client.ok("GET", "/zones?page=1&per_page=50");
    const { id, plan } = await client.ok("POST", "/zones", { name, jump_start: false });
    for (const record of [...contents, ...structured]) {
      await client.ok("POST", `/zones/${id}/dns_records`, { ...record, ttl: 3600 });
    }
    const list = await client.call("GET", `/zones/${id}/dns_records?page=1&per_page=100`);
    expect(list.body.result_info).toMatchObject({ count: 10, per_page: 100 });
    const found = new Map(
      list.body.result.map((record: { type: string }) => [record.type, record]),
    );
    // Names have no final dot in the content of these types, and octodns adds the dot.
    for (const { type, content } of contents) {
      expect(found.get(type)).toMatchObject({ content: content.replace(/\.$/, "") });
    }
    expect(found.get("SRV")).toMatchObject({ data: { target: `sip.${name}` } });
    // octodns reads the content of these types as a line of a zone file.
    expect(found.get("SVCB")).toMatchObject({ content: `1 svc.${name}. port="8443"` });
    expect(found.get("SSHFP")).toMatchObject({ content: `4 2 ${digest}` });
    const replacement = `_sip._udp.${name}.`;
    expect(found.get("NAPTR")).toMatchObject({ data: { replacement } });
    expect(await client.ok("GET", `/zones/${id}/pagerules?status=active`)).toEqual([]);
    expect(await client.ok("GET", `/zones/${id}/addressing/regional_hostnames`)).toEqual([]);
    expect(await client.ok("GET", `/zones/${id}/available_plans`)).toEqual([plan]);
    const url = { target: "url", constraint: { operator: "matches", value: `${name}/*` } };
    const forward = { targets: [url], actions: [{ id: "forwarding_url" }], status: "active" };
    const refused = await client.call("POST", `/zones/${id}/pagerules`, forward);
    expect([refused.status, refused.body.errors[0]?.message]).toEqual([
      400,
      "This server has no page rules. It serves zones and their records.",
    ]);
  });
});

describe("what this server does not have", () => {
  test("belongs to the one account", async () => {
    const { client } = running;
    const [{ account }] = await client.ok("GET", "/memberships");
    expect(await client.ok("GET", "/accounts")).toEqual([account]);
    expect(await client.ok("GET", `/accounts/${account.id}/secondary_dns/tsigs`)).toEqual([]);
    const other = "0".repeat(32);
    const missing = await client.call("GET", `/accounts/${other}/secondary_dns/tsigs`);
    expect([missing.status, missing.body.errors[0]?.code]).toEqual([404, 7003]);
  });

  test("is null, off or an empty page", async () => {
    const { client } = running;
    expect(await client.ok("GET", `${zone}/secondary_dns/incoming`)).toBeNull();
    expect(await client.ok("GET", `${zone}/hold`)).toMatchObject({ hold: false });
    const { body } = await client.call("GET", `${zone}/custom_hostnames?page=2&per_page=50`);
    expect(body).toMatchObject({ result: [], result_info: { page: 2, per_page: 50, count: 0 } });
  });
});
