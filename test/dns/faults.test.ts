/** Injected API faults: by configuration, and by the test control. */
import Cloudflare from "cloudflare";
import { afterEach, expect, test } from "vitest";
import { Client, credentials, email, key } from "./support/client.ts";
import { startServer, type Server, type ServerOptions } from "./support/server.ts";

let server: Server;
afterEach(() => server.stop());

async function start(options: ServerOptions = {}): Promise<Client> {
  server = await startServer(options);
  return new Client(server.url);
}

async function control(
  method: string,
  faults?: unknown,
  headers: Record<string, string> = credentials,
) {
  return new Client(`${server.origin}/ledge`, headers).call(
    method,
    "/faults",
    faults === undefined ? undefined : { faults },
  );
}

test("no fault is active by default", async () => {
  const client = await start();
  expect((await control("GET")).body.result).toEqual([]);
  for (let index = 0; index < 50; index++)
    expect((await client.call("GET", "/zones")).status).toBe(200);
});

test("a configured fault answers matching calls with 429 and Retry-After, `times` times", async () => {
  const faults = [
    { method: "POST", path: "/client/v4/zones/*/dns_records", status: 429, times: 2 },
  ];
  const client = await start({ config: { faults } });
  const path = `/zones/${await client.createZone("f.test")}/dns_records`;
  const a = { type: "A", name: "@", content: "192.0.2.1" };
  for (let index = 0; index < 2; index++) {
    const answer = await client.call("POST", path, a);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(answer.body).toEqual({
      result: null,
      success: false,
      errors: [{ code: 10100, message: "Rate limit reached. Please wait and try again later." }],
      messages: [],
    });
    expect(await client.ok("GET", path)).toEqual([]);
  }
  expect((await client.call("POST", path, a)).status).toBe(200);
});

test("the test control injects 403, 5xx, lost replies and delays", async () => {
  const client = await start();
  const path = `/zones/${await client.createZone("f.test")}/dns_records`;

  await control("PUT", [
    { status: 403, times: 1 },
    { status: 500, after: 1, times: 1 },
    { status: 502, after: 2, times: 1 },
  ]);
  const codes: [number, number | undefined][] = [];
  for (let index = 0; index < 4; index++) {
    const { status, body } = await client.call("GET", path);
    codes.push([status, body.errors[0]?.code]);
  }
  expect(codes).toEqual([
    [403, 10000],
    [500, 9500],
    [502, 9500],
    [200, undefined],
  ]);

  await control("PUT", [{ method: "POST", status: 504, times: 1, when: "after" }]);
  expect(
    (await client.call("POST", path, { type: "A", name: "lost", content: "192.0.2.1" })).status,
  ).toBe(504);
  expect(await client.ok("GET", path)).toHaveLength(1);

  await control("PUT", [{ method: "GET", delay_ms: 300, times: 1 }]);
  const began = performance.now();
  expect((await client.call("GET", path)).status).toBe(200);
  expect(performance.now() - began).toBeGreaterThanOrEqual(295);

  await control("PUT", [{ status: 500 }]);
  expect((await client.call("GET", path)).status).toBe(500);
  expect((await control("DELETE")).body.result).toEqual([]);
  expect((await client.call("GET", path)).status).toBe(200);
});

test("the test control checks credentials and faults", async () => {
  await start({
    config: {
      tokens: [
        { token: "limited-token", zones: ["x"] },
        { token: "reader-token", read_only: true },
      ],
    },
  });
  expect((await control("PUT", [], {})).status).toBe(400);
  expect((await control("PUT", [], { authorization: "Bearer limited-token" })).status).toBe(403);
  expect((await control("PUT", [], { authorization: "Bearer reader-token" })).status).toBe(403);
  expect((await control("PUT", [{ status: 200 }])).body.errors).toEqual([
    {
      code: 9436,
      message: "faults must be valid: faults[0].status must be a whole number from 400 to 599.",
    },
  ]);
  expect((await control("PUT", "x")).body.errors[0]!.code).toBe(9405);
  expect((await control("POST", [])).status).toBe(405);
});

test("the official SDK retries after an injected 429", async () => {
  const client = await start();
  await client.createZone("f.test");
  await control("PUT", [{ method: "GET", status: 429, times: 1 }]);
  const sdk = new Cloudflare({ apiEmail: email, apiKey: key, baseURL: server.url, maxRetries: 2 });
  expect((await sdk.zones.list()).result).toHaveLength(1);
});
