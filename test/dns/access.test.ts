/** Authentication by key and by token, and what tokens allow. */
import { describe, expect, test } from "vitest";
import { Client, credentials, email, key } from "./support/client.ts";
import { useServer } from "./support/use.ts";

const tokens = [
  { token: "token-for-everything-1" },
  { token: "token-for-reading-only-2", read_only: true },
  { token: "token-for-one-zone-3", zones: ["one.example"] },
  { token: "token-for-reading-one-4", zones: ["one.example"], read_only: true },
];
const { server, client: owner } = await useServer({ config: { tokens } });
const one = await owner.createZone("one.example");
const two = await owner.createZone("two.example");
const recordId = (
  await owner.ok("POST", `/zones/${one}/dns_records`, {
    type: "A",
    name: "@",
    content: "192.0.2.1",
  })
).id;

const bearer = (index: number) =>
  new Client(server.url, { authorization: `Bearer ${tokens[index]!.token}` });

function malformed(code: number, header: string) {
  const chain = [{ code, message: `Invalid format for ${header} header` }];
  return [{ code: 6003, message: "Invalid request headers", error_chain: chain }];
}

describe("the record API refuses missing, malformed and wrong credentials:", () => {
  const missing = [
    { code: 9106, message: "Missing X-Auth-Key, X-Auth-Email or Authorization headers" },
  ];
  const unknown = [{ code: 9103, message: "Unknown X-Auth-Key or X-Auth-Email" }];
  test.each<[Record<string, string>, number, readonly unknown[]]>([
    [{}, 400, missing],
    [{ "x-auth-email": email }, 400, missing],
    [{ "x-auth-key": key }, 400, missing],
    [{ "x-auth-email": "nobody", "x-auth-key": key }, 400, malformed(6102, "X-Auth-Email")],
    [{ "x-auth-email": "", "x-auth-key": key }, 400, malformed(6102, "X-Auth-Email")],
    [{ "x-auth-email": email, "x-auth-key": "short" }, 400, malformed(6103, "X-Auth-Key")],
    [
      { "x-auth-email": email, "x-auth-key": `${key.slice(1)} ${key}` },
      400,
      malformed(6103, "X-Auth-Key"),
    ],
    [{ "x-auth-email": email, "x-auth-key": `${key.slice(0, -1)}f` }, 403, unknown],
    [{ "x-auth-email": email, "x-auth-key": key + key }, 403, unknown],
    [{ "x-auth-email": "other@ledge.local", "x-auth-key": key }, 403, unknown],
    [{ authorization: "Basic abc" }, 400, malformed(6111, "Authorization")],
    [{ authorization: "Bearer" }, 400, malformed(6111, "Authorization")],
    [{ authorization: "Bearer x" }, 400, malformed(6111, "Authorization")],
    [{ authorization: "token-for-everything-1" }, 400, malformed(6111, "Authorization")],
    [
      { authorization: "Bearer token-that-nobody-has" },
      403,
      [{ code: 9109, message: "Invalid access token" }],
    ],
    [
      { ...credentials, authorization: "Bearer token-that-nobody-has" },
      403,
      [{ code: 9109, message: "Invalid access token" }],
    ],
  ])("%j", async (headers, status, errors) => {
    for (const path of ["/zones", `/zones/${one}/dns_records`, "/user", "/no/such/route"]) {
      const answer = await new Client(server.url, headers).call("GET", path);
      expect(answer.body).toEqual({ result: null, success: false, errors, messages: [] });
      expect(answer.status).toBe(status);
    }
    const body = { type: "A", name: "x", content: "192.0.2.1" };
    const write = await new Client(server.url, headers).call(
      "POST",
      `/zones/${one}/dns_records`,
      body,
    );
    expect(write.status).toBe(status);
  });

  test("the case of the e-mail address does not matter", async () => {
    const client = new Client(server.url, {
      "x-auth-email": email.toUpperCase(),
      "x-auth-key": key,
    });
    expect((await client.call("GET", "/user")).status).toBe(200);
  });
});

describe("a token", () => {
  const refused = {
    result: null,
    success: false,
    errors: [{ code: 10000, message: "Authentication error" }],
    messages: [],
  };
  const a = { type: "A", name: "t", content: "192.0.2.1" };

  test("without limits allows everything", async () => {
    const { id } = await bearer(0).ok("POST", `/zones/${two}/dns_records`, a);
    expect(await bearer(0).ok("DELETE", `/zones/${two}/dns_records/${id}`)).toEqual({ id });
  });

  test.each([1, 3])("with read_only allows no writes (token %i)", async (index) => {
    const client = bearer(index);
    expect(await client.ok("GET", `/zones/${one}/dns_records`)).toHaveLength(1);
    const path = `/zones/${one}/dns_records`;
    const writes = [
      client.call("POST", path, a),
      client.call("PUT", `${path}/${recordId}`, a),
      client.call("PATCH", `${path}/${recordId}`, { ttl: 300 }),
      client.call("DELETE", `${path}/${recordId}`),
      client.call("POST", `${path}/batch`, { posts: [a] }),
      client.importFile(one, "x A 192.0.2.1"),
      client.call("PATCH", `/zones/${one}/dns_settings`, { ns_ttl: 60 }),
      client.call("PATCH", `/zones/${one}/settings/http3`, { value: "off" }),
      client.call("PATCH", `/zones/${one}`, { paused: true }),
      client.call("DELETE", `/zones/${one}`),
      client.call("POST", "/zones", { name: "three.example" }),
    ];
    for (const answer of await Promise.all(writes)) {
      expect([answer.status, answer.body]).toEqual([403, refused]);
    }
    expect(await owner.ok("GET", path)).toHaveLength(1);
  });

  test.each([2, 3])("for one zone hides the other zones (token %i)", async (index) => {
    const client = bearer(index);
    const zones = await client.call("GET", "/zones");
    expect(zones.body.result).toEqual([expect.objectContaining({ name: "one.example" })]);
    expect(zones.body.result_info!["total_count"]).toBe(1);
    expect(await client.ok("GET", "/zones?name=two.example")).toEqual([]);
    for (const path of [
      "",
      "/dns_records",
      "/dns_records/export",
      "/dns_records/usage",
      "/dns_settings",
    ]) {
      const answer = await client.call("GET", `/zones/${two}${path}`);
      expect([answer.status, answer.body]).toEqual([403, refused]);
    }
    for (const answer of [
      await client.call("POST", "/zones", { name: "three.example" }),
      await client.call("DELETE", `/zones/${one}`),
    ]) {
      expect([answer.status, answer.body]).toEqual([403, refused]);
    }
  });

  test("for one zone allows writes to that zone", async () => {
    const { id } = await bearer(2).ok("POST", `/zones/${one}/dns_records`, a);
    expect(await bearer(2).ok("DELETE", `/zones/${one}/dns_records/${id}`)).toEqual({ id });
  });

  test("is verified by /user/tokens/verify, and a key is not", async () => {
    const answer = await bearer(1).call("GET", "/user/tokens/verify");
    expect(answer.body).toMatchObject({
      result: { id: expect.stringMatching(/^[0-9a-f]{32}$/), status: "active" },
      messages: [{ code: 10000, message: "This API Token is valid and active" }],
    });
    expect((await owner.call("GET", "/user/tokens/verify")).body.errors[0]!.code).toBe(9109);
  });
});
