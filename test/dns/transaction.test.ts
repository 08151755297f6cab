/** Atomicity and isolation of writes to a zone. */
import { beforeEach, describe, expect, test } from "vitest";
import { Client } from "./support/client.ts";
import { propertyRuns } from "../support/property-runs.ts";
import { useServer } from "./support/use.ts";

let zoneId: string;
let count = 0;
const { server, client } = await useServer();
beforeEach(async () => {
  count += 1;
  zoneId = await client.createZone(`zone-${count}.example`);
});

const records = () => `/zones/${zoneId}/dns_records`;
const a = (name: string, content = "192.0.2.1") => ({ type: "A", name, content });

const cname = (name: string, content: string) => ({ type: "CNAME", name, content });
const proxiedCname = (name: string, content: string) => ({
  ...cname(name, content),
  proxied: true,
});
const ns = (name: string) => ({ type: "NS", name, content: "ns.test" });

async function seed(names: readonly string[]) {
  const made = await client.ok("POST", `${records()}/batch`, {
    posts: names.map((name) => a(name)),
  });
  return made.posts as { id: string; name: string; modified_on: string }[];
}

describe("a batch", () => {
  test("with a failing last operation changes nothing, the serial included", async () => {
    const [one, two, three] = await seed(["one", "two", "three"]);
    const before = await client.call("GET", records());
    const serial = await client.serial(zoneId);
    const answer = await client.call("POST", `${records()}/batch`, {
      deletes: [{ id: one!.id }],
      patches: [{ id: two!.id, content: "192.0.2.2" }],
      puts: [{ id: three!.id, ...a("three", "192.0.2.3") }],
      posts: [a("four"), a("five"), a("two", "192.0.2.2")],
    });
    expect([answer.status, answer.body.errors]).toEqual([
      400,
      [{ code: 81058, message: "posts[2]: An identical record already exists." }],
    ]);
    expect((await client.call("GET", records())).text).toBe(before.text);
    expect(await client.serial(zoneId)).toBe(serial);
    expect(await client.ok("GET", `${records()}/usage`)).toMatchObject({ record_usage: 3 });
  });

  test("runs deletes, patches, puts and posts in that order, with one new serial", async () => {
    const [one, two] = await seed(["one", "two"]);
    const serial = await client.serial(zoneId);
    // Each operation is possible only after the previous one.
    await client.ok("POST", `${records()}/batch`, {
      posts: [{ type: "CNAME", name: "three", content: "x.test" }, a("two")],
      puts: [{ id: two!.id, ...a("four") }],
      patches: [{ id: two!.id, name: "one", content: "192.0.2.1" }],
      deletes: [{ id: one!.id }],
    });
    const names = (await client.ok("GET", `${records()}?order=name`)) as { name: string }[];
    expect(names.map(({ name }) => name.split(".")[0])).toEqual(["four", "three", "two"]);
    expect(await client.serial(zoneId)).toBe(serial + 1);
  });

  test("may create a proxied CNAME chain in any order", async () => {
    const posts = [
      proxiedCname("a", `b.zone-${count}.example`),
      proxiedCname("b", `c.zone-${count}.example`),
      a("c"),
    ];
    await client.ok("POST", `${records()}/batch`, { posts });
    const broken = await client.call("POST", `${records()}/batch`, {
      posts: [
        proxiedCname("d", `e.zone-${count}.example`),
        proxiedCname("e", `f.zone-${count}.example`),
      ],
    });
    expect(broken.body.errors).toMatchObject([
      { code: 9003, message: expect.stringMatching(/^posts\[0\]: Target f\./) },
    ]);
    expect(await client.ok("GET", `${records()}/usage`)).toMatchObject({ record_usage: 3 });
  });

  test("may have 3,500 operations", async () => {
    const posts = Array.from({ length: 3500 }, (_, index) => a(`n${index}`));
    const made = await client.ok("POST", `${records()}/batch`, { posts });
    expect(made.posts).toHaveLength(3500);
  });
});

test("a broken CNAME chain does not prevent a new comment", async () => {
  const target = await client.ok("POST", records(), a("target"));
  const content = `target.zone-${count}.example`;
  const { id } = await client.ok("POST", records(), proxiedCname("front", content));
  await client.ok("DELETE", `${records()}/${target.id}`);
  const edited = await client.ok("PATCH", `${records()}/${id}`, { comment: "kept" });
  expect(edited).toMatchObject({ comment: "kept", proxied: true });
  await client.ok("PATCH", `${records()}/${id}`, { proxied: false });
  const refused = await client.call("PATCH", `${records()}/${id}`, { proxied: true });
  expect(refused.body.errors[0]!.code).toBe(9003);
});

describe("an import", () => {
  test("with a failing last line changes nothing", async () => {
    await seed(["one"]);
    const before = await client.call("GET", records());
    const serial = await client.serial(zoneId);
    const answer = await client.importFile(
      zoneId,
      "two A 192.0.2.1\nthree A 192.0.2.1\none CNAME x.test.",
    );
    expect(answer.body.errors).toEqual([
      {
        code: 81053,
        message: "Line 3: An A, AAAA, or CNAME record with that host already exists.",
      },
    ]);
    expect((await client.call("GET", records())).text).toBe(before.text);
    expect(await client.serial(zoneId)).toBe(serial);
  });

  test("accepts the zone file as a file of the form", async () => {
    const form = new FormData();
    form.set("file", new Blob(["one A 192.0.2.1\n"]), "zone.txt");
    const answer = await client.send("POST", `${records()}/import`, { body: form });
    expect(answer.body.result).toEqual({ recs_added: 1, total_records_parsed: 1 });
  });

  test("leaves existing records unchanged, and counts the added ones", async () => {
    await seed(["one"]);
    const answer = await client.importFile(
      zoneId,
      "$TTL 60\none A 192.0.2.1\ntwo A 192.0.2.1\n",
      "true",
    );
    expect(answer.body.result).toEqual({ recs_added: 1, total_records_parsed: 2 });
    expect(answer.body.timing).toEqual({
      start_time: expect.any(String),
      end_time: expect.any(String),
      process_time: expect.any(Number),
    });
    const [one, two] = (await client.ok("GET", `${records()}?order=name`)) as {
      proxied: boolean;
    }[];
    expect([one!.proxied, two!.proxied]).toEqual([false, true]);
  });
});

test("every change takes the next serial, and a write that changes nothing takes none", async () => {
  const serials = [await client.serial(zoneId)];
  const note = async () => serials.push(await client.serial(zoneId));
  const { id, modified_on } = await client.ok("POST", records(), {
    ...a("www"),
    ttl: 300,
    tags: ["a:b"],
    comment: "c",
  });
  await note();
  const same = { ...a(`WWW.zone-${count}.example`), ttl: 300, tags: ["a:b"], comment: " c " };
  for (const write of [
    () => client.ok("PUT", `${records()}/${id}`, same),
    () => client.ok("PATCH", `${records()}/${id}`, { content: "192.0.2.1" }),
    () => client.ok("PATCH", `${records()}/${id}`, {}),
    () => client.ok("PATCH", `${records()}/${id}`, { settings: { ipv4_only: false } }),
    async () =>
      (await client.ok("POST", `${records()}/batch`, { puts: [{ id, ...same }] })).puts[0],
  ]) {
    expect((await write()).modified_on).toBe(modified_on);
  }
  await note();
  const changed = await client.ok("PUT", `${records()}/${id}`, a("www"));
  expect(changed).toMatchObject({ ttl: 1, tags: [], comment: null });
  expect(changed.modified_on > modified_on).toBe(true);
  await note();
  await client.ok("DELETE", `${records()}/${id}`);
  await note();
  expect(serials.map((serial) => serial - serials[0]!)).toEqual([0, 1, 1, 2, 3]);
});

const rounds = propertyRuns({ few: 200, all: 1000 });

test(`of two clients racing to create conflicting records exactly one wins, ${rounds} rounds`, async () => {
  const pairs = [
    (name: string) => [a(name), a(name)],
    (name: string) => [a(name), cname(name, "x.test")],
    (name: string) => [cname(name, "x.test"), cname(name, "y.test")],
    (name: string) => [ns(name), a(name)],
  ];
  const codes = new Set<number>();
  const round = async (index: number) => {
    const pair = pairs[index % pairs.length]!(`race-${index}`);
    // The clients take turns to start first.
    if (index % 8 < 4) pair.reverse();
    const answers = await Promise.all(
      pair.map((record) => new Client(server.url).call("POST", records(), record)),
    );
    const won = answers.filter(({ body }) => body.success);
    expect(won).toHaveLength(1);
    for (const { body } of answers) if (!body.success) codes.add(body.errors[0]!.code);
  };
  for (let index = 0; index < rounds; index += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, offset) => round(index + offset)));
  }
  const found = await client.call("GET", `${records()}?name.startswith=race-&per_page=2000`);
  expect(found.body.result_info!["total_count"]).toBe(rounds);
  expect([...codes].sort((one, other) => one - other)).toEqual([81053, 81054, 81055, 81056, 81058]);
});
