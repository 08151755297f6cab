/** Every filter of a list, compared with the same filter in JavaScript. */
import { describe, expect, test } from "vitest";
import { useServer } from "./support/use.ts";

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly content: string;
  readonly comment: string | null;
  readonly tags: readonly string[];
  readonly proxied: boolean;
  readonly ttl: number;
}

const { client } = await useServer();
const path = `/zones/${await client.createZone("list.example")}/dns_records`;
const posts = [
  {
    type: "A",
    name: "@",
    content: "192.0.2.1",
    proxied: true,
    comment: "Front gate",
    tags: ["Team:Web", "env:prod"],
  },
  { type: "A", name: "www", content: "192.0.2.2", proxied: true, tags: ["team:web"] },
  { type: "A", name: "api", content: "192.0.2.3", ttl: 300, comment: "api front" },
  { type: "AAAA", name: "api", content: "2001:db8::3", ttl: 300, tags: ["team:core"] },
  { type: "CNAME", name: "blog", content: "www.list.example", ttl: 60, comment: "100% _real_" },
  { type: "MX", name: "@", content: "mail.list.example", priority: 10 },
  { type: "TXT", name: "@", content: "v=spf1 -all", comment: "mail" },
  { type: "TXT", name: "note", content: '"Hello" " World"', tags: ["team:"] },
  { type: "TXT", name: "bücher", content: "Grüße" },
  { type: "CAA", name: "@", data: { flags: 0, tag: "issue", value: "ca.example" } },
  {
    type: "SRV",
    name: "_sip._tcp",
    data: { priority: 1, weight: 2, port: 3, target: "api.list.example" },
  },
];
await client.ok("POST", `${path}/batch`, { posts });
const all = await client.ok("GET", path);

const plain = ({ type, content }: Listed) =>
  type === "TXT" ? content.replaceAll('" "', "").replaceAll('"', "") : content;
const has = (record: Listed, tag: string) => record.tags.some((one) => one.toLowerCase() === tag);
const named = (record: Listed, name: string) =>
  record.tags.some((one) => one.toLowerCase().startsWith(`${name}:`));

test("a list without filters contains every record", () => expect(all).toHaveLength(11));

describe("the filter", () => {
  test.each<[query: string, test: (record: Listed) => boolean]>([
    ["name=www.list.example", ({ name }) => name === "www.list.example"],
    ["name=WWW.LIST.example.", ({ name }) => name === "www.list.example"],
    ["name.exact=list.example", ({ name }) => name === "list.example"],
    ["name=bücher.list.example", ({ name }) => name === "xn--bcher-kva.list.example"],
    ["name.contains=B", ({ name }) => name.includes("b")],
    ["name.startswith=a", ({ name }) => name.startsWith("a")],
    ["name.endswith=g.list.example", ({ name }) => name.endsWith("g.list.example")],
    ["name=nothing", () => false],
    ["content=192.0.2.2", ({ content }) => content === "192.0.2.2"],
    ["content=v%3Dspf1 -all", (record) => plain(record) === "v=spf1 -all"],
    ['content="v%3Dspf1 -all"', ({ content }) => content === '"v=spf1 -all"'],
    ["content=hello world", (record) => plain(record) === "Hello World"],
    ["content.exact=grüße", (record) => plain(record) === "Grüße"],
    ["content.contains=LO WO", (record) => plain(record).includes("lo Wo")],
    ["content.startswith=hello", (record) => plain(record).startsWith("Hello")],
    ['content.startswith="hello', ({ content }) => content.startsWith('"Hello')],
    ["content.endswith=example", (record) => plain(record).endsWith("example")],
    ["comment=front gate", ({ comment }) => comment === "Front gate"],
    ["comment.contains=FRONT", ({ comment }) => comment?.toLowerCase().includes("front") === true],
    ["comment.startswith=api", ({ comment }) => comment?.startsWith("api") === true],
    ["comment.endswith=front", ({ comment }) => comment?.endsWith("front") === true],
    ["comment.contains=%25", ({ comment }) => comment?.includes("%") === true],
    ["comment.contains=_", ({ comment }) => comment?.includes("_") === true],
    ["comment.present", ({ comment }) => comment !== null],
    ["comment.absent", ({ comment }) => comment === null],
    ["tag=team:web", (record) => has(record, "team:web")],
    ["tag=TEAM", (record) => named(record, "team")],
    ["tag.exact=team:", (record) => has(record, "team:")],
    ["tag.contains=team:E", (record) => record.tags.some((tag) => /^team:.*e/i.test(tag))],
    ["tag.startswith=team:c", (record) => has(record, "team:core")],
    ["tag.endswith=env:d", (record) => has(record, "env:prod")],
    ["tag.present=env", (record) => named(record, "env")],
    ["tag.absent=team", (record) => !named(record, "team")],
    ["tag.present=team&tag.absent=env", (record) => named(record, "team") && !named(record, "env")],
    [
      "tag.present=env&tag.exact=team:core&tag_match=any",
      (record) => named(record, "env") || has(record, "team:core"),
    ],
    ["type=TXT", ({ type }) => type === "TXT"],
    ["type=txt&name=list.example", ({ type, name }) => type === "TXT" && name === "list.example"],
    ["type=NS", () => false],
    ["proxied=true", ({ proxied }) => proxied],
    ["proxied=false", ({ proxied }) => !proxied],
    ["type=A&comment.present&match=any", ({ type, comment }) => type === "A" || comment !== null],
    ["type=MX&tag=team:web&match=any", (record) => record.type === "MX" || has(record, "team:web")],
    ["type=A&proxied=true&match=all", ({ type, proxied }) => type === "A" && proxied],
    ["search=front", ({ comment }) => comment?.toLowerCase().includes("front") === true],
    ["search=web", (record) => has(record, "team:web")],
    ["search=hello world", (record) => plain(record) === "Hello World"],
    [
      "search=api&type=A&name=nothing&match=any",
      ({ type, name, comment }) => type === "A" && (name + comment).includes("api"),
    ],
    ["name.contains=%27%22;--", () => false],
  ])("%s", async (query, matches) => {
    const answer = await client.call("GET", `${path}?${query}`);
    const expected = all.filter(matches);
    expect(answer.body.result).toEqual(expected);
    expect(answer.body.result_info).toEqual({
      page: 1,
      per_page: 100,
      count: expected.length,
      total_count: expected.length,
      total_pages: 1,
    });
  });
});

describe("orders and pages", () => {
  test.each(["type", "name", "content", "ttl", "proxied"] as const)(
    "order=%s sorts in both directions",
    async (order) => {
      const up = (await client.ok("GET", `${path}?order=${order}`)) as Listed[];
      const down = (await client.ok("GET", `${path}?order=${order}&direction=desc`)) as Listed[];
      const value = (record: Listed) =>
        order === "content" ? record.content.toLowerCase() : record[order];
      const values = up.map(value);
      expect(values).toEqual(
        values.toSorted((one, other) => (one < other ? -1 : one > other ? 1 : 0)),
      );
      expect(down).toEqual(up.toReversed());
      expect(up).toHaveLength(all.length);
    },
  );

  test("pages have no gap and no overlap, and the page after the last is empty", async () => {
    const seen: Listed[] = [];
    for (let page = 1; page <= 5; page++) {
      const answer = await client.call("GET", `${path}?per_page=3&page=${page}`);
      expect(answer.status).toBe(200);
      expect(answer.body.result_info).toEqual({
        page,
        per_page: 3,
        count: answer.body.result.length,
        total_count: 11,
        total_pages: 4,
      });
      seen.push(...answer.body.result);
    }
    expect(seen).toEqual(all);
    expect(await client.ok("GET", `${path}?page=1000000000000`)).toEqual([]);
  });

  test("an empty zone has one page", async () => {
    const empty = await client.createZone("empty.example");
    const answer = await client.call("GET", `/zones/${empty}/dns_records`);
    expect(answer.text).toBe(
      '{"result":[],"success":true,"errors":[],"messages":[],"result_info":{"page":1,"per_page":100,"count":0,"total_count":0,"total_pages":1}}',
    );
  });
});

describe("the list of zones, filtered by", () => {
  test.each([
    ["name=list.example", ["list.example"]],
    ["name=contains:example", ["empty.example", "list.example"]],
    ["name=starts_with:li", ["list.example"]],
    ["name=ends_with:.example&direction=desc", ["list.example", "empty.example"]],
    ["name=not_equal:list.example", ["empty.example"]],
    ["status=active&per_page=1", ["empty.example"]],
    ["status=pending", []],
    ["status=pending&name=list.example&match=any", ["list.example"]],
    ["account.name=Local&page=2&per_page=1", ["list.example"]],
    ["type=partial", []],
    ["type=full,partial", ["empty.example", "list.example"]],
  ])("%s", async (query, names) => {
    const zones = (await client.ok("GET", `/zones?${query}`)) as { name: string }[];
    expect(zones.map(({ name }) => name)).toEqual(names);
  });
});
