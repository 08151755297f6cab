/** DNS over HTTPS: RFC 8484 by section, and the JSON API. */
import { decode } from "dns-packet";
import { describe, expect, it } from "vitest";
import { encodeQuery } from "./support/dns-client.ts";
import { useDns } from "./support/use.ts";

const records = [
  { type: "A", name: "www", content: "192.0.2.1", ttl: 120 },
  { type: "A", name: "bücher", content: "192.0.2.3", ttl: 120 },
  { type: "TXT", name: "first\\.last", content: "dot", ttl: 120 },
  { type: "CNAME", name: "alias", content: "www.example.org", ttl: 600 },
  { type: "MX", name: "@", content: "mail.example.org", priority: 10, ttl: 300 },
  { type: "TXT", name: "text", content: '"a \\"quoted\\" word" "and more"', ttl: 300 },
  ...Array.from({ length: 60 }, (_, index) => ({
    type: "A",
    name: "many",
    content: `198.51.100.${index}`,
    ttl: 300,
  })),
];

const listening = await useDns({ zones: [{ name: "example.org", records }] }, { listen: false });
const url = new URL("/dns-query", listening.dns.url).href;

async function post(body: Uint8Array, headers: Record<string, string> = {}): Promise<Response> {
  const type = { "content-type": "application/dns-message" };
  return fetch(url, {
    method: "POST",
    headers: { ...type, ...headers },
    body: new Uint8Array(body),
  });
}

const read = async (response: Response) => decode(Buffer.from(await response.arrayBuffer()));
const maxAge = (response: Response) => response.headers.get("cache-control");

describe("RFC 8484", () => {
  it("4.1: answers by GET and by POST, without credentials", async () => {
    const query = encodeQuery("www.example.org", "A", { id: 0 });
    const dns = query.toString("base64url");
    for (const response of [await fetch(`${url}?dns=${dns}`), await post(query)]) {
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("application/dns-message");
      const answer = await read(response);
      expect(answer).toMatchObject({ id: 0, rcode: "NOERROR", flag_aa: true });
      expect(answer.answers).toMatchObject([{ type: "A", data: "192.0.2.1", ttl: 120 }]);
    }
  });

  it("5.1: Cache-Control has the smallest TTL of the answer", async () => {
    expect(maxAge(await post(encodeQuery("www.example.org", "A")))).toBe("max-age=120");
    expect(maxAge(await post(encodeQuery("alias.example.org", "A")))).toBe("max-age=120");
    const absent = await post(encodeQuery("absent.example.org", "A"));
    expect([absent.status, maxAge(absent)]).toEqual([200, "max-age=1800"]);
    expect(await read(absent)).toMatchObject({ rcode: "NXDOMAIN" });
    const refused = await post(encodeQuery("elsewhere.example", "A"));
    expect([refused.status, maxAge(refused)]).toEqual([200, "no-store"]);
    expect(await read(refused)).toMatchObject({ rcode: "REFUSED" });
  });

  it("6: a response may be larger than a datagram", async () => {
    const answer = await read(await post(encodeQuery("many.example.org", "A")));
    expect(answer).toMatchObject({ flag_tc: false });
    expect(answer.answers).toHaveLength(60);
  });

  it.each([
    ["a request without a query", async () => fetch(url), 400],
    ["a query that is not base64url", async () => fetch(`${url}?dns=%21%21%21`), 400],
    ["a message that is too short", async () => post(Uint8Array.of(1, 2, 3)), 400],
    ["an empty body", async () => post(new Uint8Array()), 400],
    [
      "a response",
      async () => post(Uint8Array.from(encodeQuery("a.example.org", "A"), toResponse)),
      400,
    ],
    [
      "another content type",
      async () => post(new Uint8Array(12), { "content-type": "text/plain" }),
      415,
    ],
    ["a body that is too large", async () => post(new Uint8Array(65_536)), 413],
    ["another method", async () => fetch(url, { method: "PUT", body: "x" }), 405],
  ])("4.2: refuses %s", async (_, ask, status) => {
    const response = await ask();
    expect(response.status).toBe(status);
  });

  it("4.2: 405 lists the allowed methods, and an unreadable message gets FORMERR", async () => {
    const response = await fetch(url, { method: "DELETE" });
    expect(response.headers.get("allow")).toBe("GET, HEAD, POST");
    // A message of 11,250 zero octets cannot be decoded: the answer is a DNS message that says so.
    const nonsense = await fetch(`${url}?dns=${"A".repeat(15_000)}`);
    expect(await read(nonsense)).toMatchObject({ rcode: "FORMERR" });
  });
});

function toResponse(octet: number, at: number): number {
  return at === 2 ? octet | 0x80 : octet;
}

async function json(query: string, accept = "application/dns-json") {
  const response = await fetch(`${url}?${query}`, { headers: { accept } });
  const text = await response.text();
  return { response, body: response.ok ? (JSON.parse(text) as unknown) : text };
}

describe("the JSON API", () => {
  it("takes internationalized names, escapes, and keeps the case of a name", async () => {
    const names = ["bücher.example.org", "BÜCHER。example.org.", "xn--bcher-kva.example.org"];
    for (const name of names) {
      expect((await json(`name=${encodeURIComponent(name)}`)).body).toMatchObject({
        Status: 0,
        Question: [{ name: "xn--bcher-kva.example.org", type: 1 }],
        Answer: [{ name: "xn--bcher-kva.example.org", data: "192.0.2.3" }],
      });
    }
    expect((await json("name=First%5C.last.Example.ORG&type=TXT")).body).toMatchObject({
      Question: [{ name: "First\\.last.Example.ORG", type: 16 }],
      Answer: [{ data: '"dot"' }],
    });
  });

  it("has the fields of the message", async () => {
    const { response, body } = await json("name=alias.example.org&type=A");
    expect(response.headers.get("content-type")).toBe("application/dns-json");
    expect(maxAge(response)).toBe("max-age=120");
    expect(body).toEqual({
      Status: 0,
      TC: false,
      RD: true,
      RA: false,
      AD: false,
      CD: false,
      Question: [{ name: "alias.example.org", type: 1 }],
      Answer: [
        { name: "alias.example.org", type: 5, TTL: 600, data: "www.example.org." },
        { name: "www.example.org", type: 1, TTL: 120, data: "192.0.2.1" },
      ],
    });
  });

  it("accepts types by name and number, flags, a final dot, and `ct`", async () => {
    const expected = { Answer: [{ type: 15, data: "10 mail.example.org." }] };
    for (const query of [
      "name=example.org&type=MX",
      "name=example.org.&type=mx",
      "name=example.org&type=15",
      "name=example.org&type=MX&do=1&ct=application/dns-json",
    ]) {
      expect((await json(query, "*/*")).body).toMatchObject(expected);
    }
    expect((await json("name=example.org&cd=true")).body).toMatchObject({ CD: true });
    expect((await json("name=text.example.org&type=TXT")).body).toMatchObject({
      Answer: [{ data: '"a \\"quoted\\" word" "and more"' }],
    });
  });

  it("has the SOA for an empty answer, and status 3 for a name that does not exist", async () => {
    const { body } = await json("name=absent.example.org&type=AAAA");
    expect(body).toMatchObject({ Status: 3, Authority: [{ name: "example.org", type: 6 }] });
    expect(body).not.toHaveProperty("Answer");
  });

  it.each([
    ["type=A", /name is missing/],
    ["name=example.org&type=NONSENSE", /type is unknown: "NONSENSE"/],
    ["name=example.org&type=99999", /type is unknown/],
    [`name=${"a".repeat(64)}.example.org`, /not a domain name/],
    ["name=a..b", /not a domain name/],
  ])("refuses %s", async (query, message) => {
    const { response, body } = await json(query);
    expect(response.status).toBe(400);
    expect(body).toMatch(message);
  });
});
