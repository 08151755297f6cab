/** ChangeLog: the records that each serial removed and added, for transfers after a restart. */
import { expect, test } from "vitest";
import { useServer } from "./support/use.ts";

interface LoggedRecord {
  readonly name: string;
  readonly content: string;
}
interface Change {
  readonly serial: number;
  readonly removed: readonly LoggedRecord[];
  readonly added: readonly LoggedRecord[];
  readonly headBefore: { readonly settings: { readonly ns_ttl: number } } | null;
}

/** The log has no HTTP route: a script with the namespace of the zones calls the object. */
const script = {
  name: "log-reader",
  modules: true,
  compatibilityDate: "2026-08-01",
  durableObjects: { ZONES: { className: "ZoneObject", scriptName: "dns", useSQLite: true } },
  script: `export default {
    async fetch(request, { ZONES }) {
      const { zoneId, serial } = await request.json();
      using changes = await ZONES.get(ZONES.idFromName(zoneId)).changesSince(serial);
      return Response.json(changes);
    }
  }`,
};

const { server, client } = await useServer({ workers: [script] });
const zoneId = await client.createZone("log.example");

async function changesSince(serial: number): Promise<readonly Change[] | null> {
  const init = { method: "POST", body: JSON.stringify({ zoneId, serial }) };
  const response = await server.miniflare.dispatchFetch("http://log-reader/", init);
  return (await response.json()) as readonly Change[] | null;
}

function summarise(changes: readonly Change[] | null, first: number): string[] | undefined {
  return changes?.flatMap(({ serial, removed, added, headBefore }) => [
    ...removed.map(({ name, content }) => `${serial - first} remove ${name} ${content}`),
    ...added.map(({ name, content }) => `${serial - first} add ${name} ${content}`),
    ...(headBefore === null ? [] : [`${serial - first} before ${headBefore.settings.ns_ttl}`]),
  ]);
}

test("changesSince() lists all changes after a serial, or returns null for an unknown serial", async () => {
  const first = await client.serial(zoneId);
  expect(await changesSince(first)).toEqual([]);
  const path = `/zones/${zoneId}/dns_records`;
  const made = await client.ok("POST", `${path}/batch`, {
    posts: [
      { type: "A", name: "a", content: "192.0.2.1" },
      { type: "A", name: "b", content: "192.0.2.1" },
    ],
  });
  await client.ok("PATCH", `${path}/${made.posts[0].id}`, { content: "192.0.2.2" });
  await client.ok("PATCH", `/zones/${zoneId}/dns_settings`, { ns_ttl: 60 });
  await client.call("POST", path, { type: "A", name: "b", content: "192.0.2.1" });
  await client.ok("DELETE", `${path}/${made.posts[1].id}`);
  const all = [
    "1 add a.log.example 192.0.2.1",
    "1 add b.log.example 192.0.2.1",
    "2 remove a.log.example 192.0.2.1",
    "2 add a.log.example 192.0.2.2",
    "3 before 86400",
    "4 remove b.log.example 192.0.2.1",
  ];
  expect(summarise(await changesSince(first), first)).toEqual(all);
  expect(summarise(await changesSince(first + 1), first)).toEqual(all.slice(2));
  expect(summarise(await changesSince(first + 3), first)).toEqual(all.slice(5));
  expect(await changesSince(first + 4)).toEqual([]);
  expect(await changesSince(first - 1)).toBeNull();
  expect(await changesSince(first + 5)).toBeNull();
});

test("changesSince() returns null for a serial whose changes were dropped from the bounded log", async () => {
  const first = await client.serial(zoneId);
  const posts = Array.from({ length: 3500 }, (_, index) => ({
    type: "A",
    name: `n${index}`,
    content: "192.0.2.1",
  }));
  const ids = (await client.ok("POST", `/zones/${zoneId}/dns_records/batch`, { posts })).posts as {
    id: string;
  }[];
  for (const ttl of [60, 61]) {
    const patches = ids.map(({ id }) => ({ id, ttl }));
    await client.ok("POST", `/zones/${zoneId}/dns_records/batch`, { patches });
  }
  expect(await changesSince(first)).toBeNull();
  expect(await changesSince(first + 1)).toBeNull();
  const [change] = (await changesSince(first + 2))!;
  expect([change!.removed.length, change!.added.length]).toEqual([3500, 3500]);
});
