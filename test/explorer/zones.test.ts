/** Zones in the explorer: the record API behind the explorer's access, and questions to a running name server. */
import { createServer, type Server } from "node:http";
import { createSocket } from "node:dgram";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Task } from "../../src/explorer/api/tasks.ts";
import {
  unmodifiedHeader,
  type DnsEnvelope,
  type DnsRecord,
  type DnsZone,
  type LookupAnswer,
  type RecordTypes,
} from "../../src/explorer/api/zones-api.ts";
import type { DnsAccess } from "../../src/explorer/server/call.ts";
import { serveExplorer, type RunningExplorer } from "../../src/explorer/server/start-explorer.ts";
import { clientHeader } from "../../src/dns/rules/api-call.ts";
import { credentials } from "../dns/support/client.ts";
import { openExplorerLink } from "../support/explorer-access.ts";
import { startTestDns, type TestDns } from "../dns/support/running-dns.ts";

const stateFolder = mkdtempSync(join(tmpdir(), "ledge-explorer-zones-"));
/** What a page must show as it is. */
const markup = `<img src=x onerror='alert(1)'>`;
let dns: TestDns;
let explorer: RunningExplorer;
let access: DnsAccess | null;
let running: DnsAccess;
let pageAddress: string;
let cookie: string;
const reported: unknown[] = [];

beforeAll(async () => {
  dns = await startTestDns({
    zones: [
      {
        name: "example.org",
        records: [
          { type: "A", name: "www", content: "192.0.2.1", ttl: 120 },
          { type: "TXT", name: "text", content: markup, comment: markup },
          { type: "CNAME", name: "alias", content: "www.example.org", ttl: 60 },
        ],
      },
    ],
  });
  running = {
    apiUrl: new URL(dns.dns.url).origin,
    addresses: [`127.0.0.1:${dns.port}`],
    headers: { ...credentials, [clientHeader]: "explorer" },
  };
  access = running;
  explorer = await serveExplorer(
    { stateFolder, port: 0, onError: (error) => reported.push(error) },
    { dns: async () => access, runningDns: async () => access },
  );
  ({ address: pageAddress, cookie } = await openExplorerLink(explorer.url));
});

afterAll(async () => {
  await explorer?.close();
  await dns?.stop();
  rmSync(stateFolder, { recursive: true, force: true, maxRetries: 3 });
});

function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("cookie", cookie);
  return fetch(`${pageAddress}${path}`, { ...init, headers });
}

async function call<Result>(method: string, path: string, body?: unknown) {
  const response = await request(`/api/dns/${path}`, {
    method,
    ...(body !== undefined && {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  });
  return { status: response.status, ...((await response.json()) as DnsEnvelope<Result>) };
}

async function zoneId(): Promise<string> {
  const { result } = await call<DnsZone[]>("GET", "zones?name=example.org");
  return result[0]!.id;
}

async function records(): Promise<string> {
  return `zones/${await zoneId()}/dns_records`;
}

async function patchUnmodified(id: string, modifiedOn: string, body: unknown) {
  const response = await request(`/api/dns/${await records()}/${id}`, {
    method: "PATCH",
    headers: { "content-type": "application/json", [unmodifiedHeader]: modifiedOn },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as { message?: string } };
}

async function withAccess<Result>(
  other: DnsAccess | null,
  act: () => Promise<Result>,
): Promise<Result> {
  access = other;
  try {
    return await act();
  } finally {
    access = running;
  }
}

describe("/api/dns", () => {
  it("answers as the record API does, with the access of the project", async () => {
    const { status, success, result } = await call<DnsZone[]>("GET", "zones");
    expect({ status, success }).toEqual({ status: 200, success: true });
    expect(result.map(({ name }) => name)).toEqual(["example.org"]);
  });

  it("passes creations, changes and deletions on, and names that look like HTML", async () => {
    const path = `zones/${await zoneId()}/dns_records`;
    const made = await call<DnsRecord>("POST", path, {
      type: "TXT",
      name: "made",
      content: markup,
      comment: markup,
      tags: [`note:${markup}`],
    });
    expect(made.errors).toEqual([]);
    const { id } = made.result;
    const patched = await call<DnsRecord>("PATCH", `${path}/${id}`, { comment: "other" });
    expect(patched.result).toMatchObject({ comment: "other", tags: [`note:${markup}`] });
    const put = { type: "A", name: "made", content: "192.0.2.9" };
    expect((await call<DnsRecord>("PUT", `${path}/${id}`, put)).result.type).toBe("A");
    expect((await call("DELETE", `${path}/${id}`)).status).toBe(200);
    expect((await call("GET", `${path}/${id}`)).status).toBe(404);
  });

  it("passes refusals on with status, codes and messages", async () => {
    const path = `zones/${await zoneId()}/dns_records`;
    const refused = await call("POST", path, { type: "A", name: "x", content: "x", ttl: 5 });
    expect(refused.status).toBe(400);
    expect(refused.errors).toEqual([
      { code: 9021, message: "TTL must be between 60 and 86400 seconds, or 1 for Automatic." },
      { code: 9005, message: "Content for A record must be a valid IPv4 address." },
    ]);
  });

  it("passes forms and zone files on", async () => {
    const path = `/api/dns/zones/${await zoneId()}/dns_records`;
    const body = new FormData();
    body.set("file", new Blob(["imported 300 IN A 192.0.2.7\nlow 5 IN A 192.0.2.8\n"]), "zone");
    const imported = await request(`${path}/import`, { method: "POST", body });
    const { result, messages } = (await imported.json()) as DnsEnvelope<unknown>;
    expect(result).toMatchObject({ recs_added: 2, total_records_parsed: 2 });
    expect(messages).toHaveLength(1);
    const exported = await request(`${path}/export`);
    expect(exported.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(exported.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await exported.text()).toContain("imported.example.org.");
  });

  it.each(["zones/..%2f..%2f..%2fledge", "/127.0.0.1/x", "zones//x"])(
    "refuses the path %j",
    async (path) => {
      const response = await request(`/api/dns/${path}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toHaveProperty("message");
    },
  );

  it("is refused without the token", async () => {
    expect((await fetch(new URL("/api/dns/zones", explorer.url.split("?")[0]))).status).toBe(401);
  });

  it("says that a project has no DNS, and what to do", async () => {
    await withAccess(null, async () => {
      for (const path of ["/api/dns/zones", "/api/lookup?name=example.org"]) {
        const response = await request(path);
        expect(response.status).toBe(409);
        const { message } = (await response.json()) as { message: string };
        expect(message).toContain("Add [dns] to the configuration");
      }
    });
  });

  it("says that the record API has gone away", async () => {
    const apiUrl = `http://127.0.0.1:${await unusedPort()}`;
    await withAccess({ ...running, apiUrl }, async () => {
      const response = await request("/api/dns/zones");
      expect(response.status).toBe(502);
      expect(await response.json()).toEqual({
        message: expect.stringMatching(
          /does not answer: ECONNREFUSED\. Start ledge dev/,
        ) as unknown,
      });
    });
  });

  it("sends a body that is too large nowhere", async () => {
    let calls = 0;
    const other = await serve((_, response) => {
      calls += 1;
      response.end();
    });
    await withAccess({ ...running, apiUrl: originOf(other) }, async () => {
      const body = new Uint8Array(17 * 1024 * 1024);
      const response = await request("/api/dns/zones", { method: "POST", body });
      expect(response.status).toBe(413);
    });
    expect(calls).toBe(0);
    other.close();
  });

  it("makes no page of what the server answers", async () => {
    const other = await serve((_, response) => {
      response.setHeader("content-type", "text/html");
      response.setHeader("set-cookie", "a=b");
      response.end(markup);
    });
    await withAccess({ ...running, apiUrl: originOf(other) }, async () => {
      const response = await request("/api/dns/zones");
      expect(response.headers.get("content-type")).toBe("application/octet-stream");
      expect(response.headers.get("set-cookie")).toBeNull();
    });
    other.close();
  });
});

describe("records as people write them", () => {
  it("have types with examples, of which each makes a record", async () => {
    const response = await request("/api/record-types");
    const { types, lookupTypes, ttlSecondsMin } = (await response.json()) as RecordTypes;
    expect(types.find(({ type }) => type === "MX")).toEqual({
      type: "MX",
      example: "mail.example.com",
      hasPriority: true,
      isProxiable: false,
    });
    expect(lookupTypes).toEqual(expect.arrayContaining(["A", "SOA", "ANY"]));
    expect(ttlSecondsMin).toBe(60);
    for (const { type, example, hasPriority } of types) {
      const name = `example-${type}`;
      const body = { type, name, content: example, ...(hasPriority && { priority: 1 }) };
      const { errors } = await call("POST", await records(), body);
      expect([type, errors]).toEqual([type, []]);
    }
  });

  it("have content as in a zone file, and a refusal shows an example", async () => {
    const record = { type: "SRV", name: "_sip._tcp", priority: 1, content: "2 3 a.example" };
    const made = await call<DnsRecord>("POST", await records(), record);
    expect(made.result).toMatchObject({ priority: 1, content: "2 3 a.example" });
    const changed = { ...record, priority: 4, content: "5 6 a.example" };
    const { result } = await call<DnsRecord>(
      "PATCH",
      `${await records()}/${made.result.id}`,
      changed,
    );
    expect(result).toMatchObject({ priority: 4, content: "5 6 a.example" });
    const response = await request(`/api/dns/${await records()}`, {
      method: "POST",
      body: JSON.stringify({ ...record, content: "2 3" }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      message: expect.stringContaining("looks like: 5 5060 sip.example.com") as unknown,
    });
  });

  it("are not changed when another client has changed or deleted them", async () => {
    const content = { type: "A", name: "met", content: "192.0.2.9" };
    const { result } = await call<DnsRecord>("POST", await records(), content);
    const { id, modified_on: opened } = result;
    const comments = ["a", "b", "c", "d", "e", "f"];
    const answers = await Promise.all(
      comments.map((comment) => patchUnmodified(id, opened, { comment })),
    );
    const saved = answers.findIndex(({ status }) => status === 200);
    for (const [index, { status, body }] of answers.entries()) {
      if (index === saved) continue;
      expect(status).toBe(412);
      expect(body.message).toContain("was changed after you opened it");
    }
    const path = `${await records()}/${id}`;
    expect((await call<DnsRecord>("GET", path)).result.comment).toBe(comments[saved]);
    await call("DELETE", path);
    expect((await patchUnmodified(id, opened, {})).body.message).toContain("was deleted");
  });

  it("are deleted by a task after ten seconds, and a deleted record is no failure", async () => {
    const zone = await zoneId();
    const names = ["task-1", "task-2"];
    const made = await Promise.all(
      names.map((name) =>
        call<DnsRecord>("POST", `zones/${zone}/dns_records`, {
          type: "A",
          name,
          content: "192.0.2.9",
        }),
      ),
    );
    const deleted = made.map(({ result: { id, name, type } }) => ({ id, name, type }));
    const body = { kind: "deleteRecords", zone, zoneName: "example.org", records: deleted };
    const post = { method: "POST", body: JSON.stringify(body) };
    const task = (await (await request("/api/tasks", post)).json()) as Task;
    expect(task).toMatchObject({ ...body, state: "waiting", total: 2 });
    await call("DELETE", `zones/${zone}/dns_records/${deleted[1]!.id}`);
    const current = async () =>
      ((await (await request("/api/tasks")).json()) as Task[]).find(({ id }) => id === task.id);
    await expect.poll(current, { timeout: 60_000 }).toMatchObject({ state: "done", done: 2 });
    expect((await call("GET", `zones/${zone}/dns_records/${deleted[0]!.id}`)).status).toBe(404);
  });
});

describe("/api/lookup", () => {
  it("answers as dig shows it, with the rules that made the answer", async () => {
    const { status, body } = await lookUp({ name: "alias.example.org", type: "A" });
    expect(status).toBe(200);
    expect(body.rcode).toBe("NOERROR");
    expect(body.text).toMatch(/^;; alias\.example\.org\. A: NOERROR, flags qr aa rd\n/);
    expect(body.text).toMatch(/www\.example\.org\.\s+120\s+IN\s+A\s+192\.0\.2\.1/);
    expect(body.answers).toContainEqual({
      name: "www.example.org",
      type: "A",
      ttl: 120,
      data: "192.0.2.1",
    });
    expect(body.reasons?.map(({ rule, name }) => `${rule} ${name}`)).toEqual([
      "zone example.org",
      "alias alias.example.org",
      "exact www.example.org",
    ]);
  });

  it("asks for the serial, for types by number, and for reverse names of addresses", async () => {
    const soa = await lookUp({ name: "example.org", type: "SOA" });
    expect(soa.body.answers[0]?.data.split(" ")[2]).toMatch(/^\d+$/);
    expect(
      (await lookUp({ name: "text.example.org", type: "type16" })).body.answers[0]?.data,
    ).toContain("<img src=x onerror=");
    const reverse = await lookUp({ name: "192.0.2.1", type: "" });
    expect(reverse.body.text).toContain(";; 1.2.0.192.in-addr.arpa. PTR: REFUSED");
  });

  it("checks signatures", async () => {
    await call("PATCH", `zones/${await zoneId()}/dnssec`, { status: "active" });
    const { body } = await lookUp({ name: "www.example.org", type: "A", dnssec: "true" });
    expect(body.text).toMatch(/;; Signatures\n;;\s+www\.example\.org\. A: valid/);
    const plain = await lookUp({ name: "www.example.org", type: "A" });
    expect(plain.body.text).not.toContain("Signatures");
  });

  it.each([
    [{ name: "www.example.org", type: "AAA" }, 'There is no record type "AAA". Did you mean'],
    [{ name: "a..b", type: "A" }, '"a..b" is not a domain name'],
    [{ type: "A" }, 'The query has no "name".'],
  ])("says what is wrong with %j", async (query, message) => {
    const { status, body } = await lookUp(query);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body).toEqual({ message: expect.stringContaining(message) as unknown });
  });

  it("says that no name server answers", async () => {
    const address = `127.0.0.1:${await unusedUdpPort()}`;
    await withAccess({ ...running, addresses: [address] }, async () => {
      const { status, body } = await lookUp({ name: "www.example.org" });
      expect(status).toBe(422);
      expect(body).toEqual({
        message: expect.stringMatching(
          /^No answer from 127\.0\.0\.1, port \d+: ECONNREFUSED/,
        ) as unknown,
      });
    });
  });

  it("asks over HTTPS when the project has no port for queries", async () => {
    await withAccess({ ...running, addresses: [] }, async () => {
      const { body } = await lookUp({ name: "www.example.org" });
      expect(body.text).toContain("by HTTPS");
      expect(body.rcode).toBe("NOERROR");
    });
  });
});

describe("the explorer", () => {
  it("has reported no error of its own", () => {
    expect(reported).toEqual([]);
  });
});

async function lookUp(query: Record<string, string>) {
  const response = await request(`/api/lookup?${new URLSearchParams(query).toString()}`);
  return { status: response.status, body: (await response.json()) as LookupAnswer };
}

async function serve(handle: Parameters<typeof createServer>[1]): Promise<Server> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function unusedPort(): Promise<number> {
  const server = await serve(() => {});
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function unusedUdpPort(): Promise<number> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return port;
}

it("queries of the page itself stay out of the activity", async () => {
  const closing = new AbortController();
  onTestFinished(() => closing.abort());
  const own = await request("/api/lookup?name=by-the-page.example.org&type=SOA&transport=https");
  expect(((await own.json()) as LookupAnswer).rcode).toBe("NXDOMAIN");
  await request("/api/lookup?name=by-a-person.example.org&type=A");
  const { body } = await request("/api/activity?after=0", { signal: closing.signal });
  let text = "";
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("by-a-person")) break;
  }
  expect(text).toContain('"source":"udp"');
  expect(text).not.toMatch(/by-the-page|"source":"(?:https|explorer)"/);
});
