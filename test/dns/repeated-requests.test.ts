/**
 * A client of another process repeats a request whose answer was lost, with the same id. The zones
 * execute the request once, and answer the repetition as they answered the first time.
 */
import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { credentials } from "./support/client.ts";
import { startTestDns, type TestDns } from "./support/running-dns.ts";

interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- the JSON of any reply
  readonly body: any;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly form?: Readonly<Record<string, string>>;
}

const table = { zones: [{ name: "example.org" }] };
let dns: TestDns;
let zoneId: string;

beforeAll(async () => {
  dns = await startTestDns(table);
  zoneId = (await send({ method: "GET", path: "/zones" })).body.result[0].id;
});

afterAll(async () => {
  await dns.stop();
  rmSync(dns.folder, { recursive: true, force: true });
});

async function restart(): Promise<void> {
  await dns.dns.stop();
  dns = await startTestDns(table, { folder: dns.folder });
}

/** Sends a request to the folder's socket, as a client of another process does. */
async function send({ method, path, body, form }: Call, id = randomUUID()): Promise<Answer> {
  const entity = form === undefined ? JSON.stringify(body) : formOf(form);
  const sent = new Request("http://dns", {
    method: "POST",
    body: entity ?? null,
    ...(form === undefined && { headers: { "content-type": "application/json" } }),
  });
  const content = Buffer.from(await sent.arrayBuffer());
  return new Promise((resolve, reject) => {
    const outgoing = request({
      // The server closes a connection that has waited for 5 s, and a request that meets the end is lost.
      agent: false,
      socketPath: join(dns.folder, ".wrangler/state/v3/dns/sockets/api"),
      method,
      path: `/client/v4${path}`,
      headers: {
        "content-type": sent.headers.get("content-type") ?? "",
        "content-length": content.length,
        "x-ledge-request-id": id,
      },
    });
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      json(incoming).then(
        (answer) => resolve({ status: incoming.statusCode ?? 0, body: answer }),
        reject,
      );
    });
    outgoing.end(content);
  });
}

function formOf(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, text] of Object.entries(fields)) form.set(name, new Blob([text]), name);
  return form;
}

const records = (path = "") => `/zones/${zoneId}/dns_records${path}`;
const address = (name: string, content = "192.0.2.1") => ({ type: "A", name, content });

async function makeRecord(name: string): Promise<string> {
  const answer = await send({ method: "POST", path: records(), body: address(name) });
  return answer.body.result.id;
}

/** Everything that a request could change. */
async function state(): Promise<unknown> {
  const paths = [records("?per_page=5000"), "/zones", `/zones/${zoneId}/dns_settings`];
  paths.push(`/zones/${zoneId}/settings`);
  const answers = await Promise.all(paths.map((path) => send({ method: "GET", path })));
  return answers.map(({ body }) => body.result);
}

/** Prepares a call, and another writer's call that a second execution of the first would undo. */
const calls: Record<string, () => Promise<{ call: Call; other?: Call }>> = {
  "a record is created": async () => ({
    call: { method: "POST", path: records(), body: address("created") },
  }),
  "a record is created, and deleted by another writer": async () => ({
    call: { method: "POST", path: records(), body: address("deleted-later") },
  }),
  "a record is replaced": async () => {
    const path = records(`/${await makeRecord("put")}`);
    return {
      call: { method: "PUT", path, body: address("put", "192.0.2.2") },
      other: { method: "PUT", path, body: address("put", "192.0.2.3") },
    };
  },
  "a record is edited": async () => {
    const path = records(`/${await makeRecord("patch")}`);
    return {
      call: { method: "PATCH", path, body: { comment: "one" } },
      other: { method: "PATCH", path, body: { comment: "two" } },
    };
  },
  "a record is deleted": async () => ({
    call: { method: "DELETE", path: records(`/${await makeRecord("delete")}`) },
    other: { method: "POST", path: records(), body: address("delete") },
  }),
  "a batch": async () => ({
    call: {
      method: "POST",
      path: records("/batch"),
      body: { deletes: [{ id: await makeRecord("batch") }], posts: [address("posted")] },
    },
    other: { method: "POST", path: records(), body: address("batch") },
  }),
  "a batch with a reply of several megabytes": async () => ({
    call: {
      method: "POST",
      path: records("/batch"),
      body: {
        posts: Array.from({ length: 1000 }, (_, n) => ({
          type: "TXT",
          name: `text-${n}`,
          content: "long ".repeat(400),
        })),
      },
    },
  }),
  "an import": async () => ({
    call: {
      method: "POST",
      path: records("/import"),
      form: { file: "imported 300 IN A 192.0.2.1\n" },
    },
  }),
  "the settings of a zone": async () => {
    const path = `/zones/${zoneId}/dns_settings`;
    return {
      call: { method: "PATCH", path, body: { flatten_all_cnames: true } },
      other: { method: "PATCH", path, body: { flatten_all_cnames: false } },
    };
  },
  "a switch of a zone": async () => {
    const path = `/zones/${zoneId}/settings/http3`;
    return {
      call: { method: "PATCH", path, body: { value: "off" } },
      other: { method: "PATCH", path, body: { value: "on" } },
    };
  },
  "a zone is created": async () => ({
    call: { method: "POST", path: "/zones", body: { name: "created.example" } },
  }),
  "a zone is edited": async () => ({
    call: { method: "PATCH", path: `/zones/${zoneId}`, body: { paused: true } },
    other: { method: "PATCH", path: `/zones/${zoneId}`, body: { paused: false } },
  }),
  "a zone is deleted": async () => {
    const made = await send({ method: "POST", path: "/zones", body: { name: "gone.example" } });
    return {
      call: { method: "DELETE", path: `/zones/${made.body.result.id}` },
      other: { method: "POST", path: "/zones", body: { name: "gone.example" } },
    };
  },
};

/** Without the times of an import, which are those of each request. */
const withoutTiming = ({ status, body }: Answer) => ({ status, ...body, timing: null });

describe.each(["the same owner", "the next owner"])("a request repeated at %s", (at) => {
  it.each(Object.entries(calls))("%s", async (name, prepare) => {
    const { call, other } = await prepare();
    const id = randomUUID();
    const first = await send(call, id);
    expect(first.body).toMatchObject({ success: true });
    if (name.includes("deleted by another")) {
      await send({ method: "DELETE", path: records(`/${first.body.result.id}`) });
    }
    if (other !== undefined) await send(other);
    const before = await state();
    if (at === "the next owner") await restart();
    const second = await send(call, id);
    expect(withoutTiming(second)).toEqual(withoutTiming(first));
    expect(await state()).toEqual(before);
    await cleanUp();
  });
});

async function cleanUp(): Promise<void> {
  const { body } = await send({ method: "GET", path: records("?per_page=5000") });
  const deletes = body.result.map(({ id }: { id: string }) => ({ id }));
  if (deletes.length > 0)
    await send({ method: "POST", path: records("/batch"), body: { deletes } });
  const zones = (await send({ method: "GET", path: "/zones" })).body.result as { id: string }[];
  for (const zone of zones) {
    if (zone.id !== zoneId) await send({ method: "DELETE", path: `/zones/${zone.id}` });
  }
}

it("a request that failed is executed again", async () => {
  const id = randomUUID();
  const call = { method: "POST", path: records(), body: address("again") };
  const existing = await makeRecord("again");
  expect((await send(call, id)).status).toBe(400);
  await send({ method: "DELETE", path: records(`/${existing}`) });
  expect((await send(call, id)).status).toBe(200);
});

it("the port of the API does not read the id", async () => {
  const sent = {
    method: "POST",
    headers: {
      ...credentials,
      "content-type": "application/json",
      "x-ledge-request-id": "chosen",
    },
    body: JSON.stringify(address("by-port")),
  };
  expect((await fetch(`${dns.dns.url}${records()}`, sent)).status).toBe(200);
  expect((await fetch(`${dns.dns.url}${records()}`, sent)).status).toBe(400);
});
