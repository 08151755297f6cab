import { env, exports } from "cloudflare:workers";
import { dns } from "ledge/test";
import { beforeEach, describe, expect, it } from "vitest";

interface Listed {
  result: { id: string; name: string; type: string; content: string; ttl: number }[];
}

const update = (query: string, credentials = "home:open sesame") =>
  exports.default.fetch(`http://dns.test/nic/update?${query}`, {
    headers: { authorization: `Basic ${btoa(credentials)}` },
  });
const answerTo = async (query: string) => (await update(query)).text();

const api = (path: string, init?: RequestInit) =>
  env.DNS.fetch(`http://dns/client/v4/${path}`, init);

async function zoneId(): Promise<string> {
  const { result } = await (await api("zones?name=example.com")).json<Listed>();
  return result[0]?.id as string;
}

async function records(): Promise<Listed["result"]> {
  const { result } = await (await api(`zones/${await zoneId()}/dns_records`)).json<Listed>();
  return result.filter(({ type }) => type === "A" || type === "AAAA");
}
const contents = async () => (await records()).map(({ name, content }) => `${name} ${content}`);

/** Looks the name up: the status of the answer, and its addresses with their TTL. */
async function resolve(name: string, type = "A") {
  const response = await env.DNS.fetch(`http://dns/dns-query?name=${name}&type=${type}`, {
    headers: { accept: "application/dns-json" },
  });
  const { Status, Answer = [] } = await response.json<{
    Status: number;
    Answer?: { data: string; TTL: number }[];
  }>();
  return { status: Status, addresses: Answer.map(({ data, TTL }) => `${data} ${TTL}`).sort() };
}

async function addRecord(record: object): Promise<void> {
  const response = await api(`zones/${await zoneId()}/dns_records`, {
    method: "POST",
    body: JSON.stringify(record),
    headers: { "content-type": "application/json" },
  });
  expect(response.status).toBe(200);
}

beforeEach(async () => {
  const zone = await zoneId();
  for (const { id } of await records()) {
    await api(`zones/${zone}/dns_records/${id}`, { method: "DELETE" });
  }
});

describe("a name", () => {
  const noerror = 0;
  const nxdomain = 3;

  it("resolves to its new address at once", async () => {
    expect(await resolve("home.example.com")).toEqual({ status: nxdomain, addresses: [] });
    for (let last = 1; last <= 20; last++) {
      await answerTo(`hostname=home.example.com&myip=192.0.2.${last}`);
      expect(await resolve("home.example.com")).toEqual({
        status: noerror,
        addresses: [`192.0.2.${last} 60`],
      });
    }
    expect(await resolve("HOME.example.com", "AAAA")).toEqual({ status: noerror, addresses: [] });
    expect(await resolve("nas.example.com")).toEqual({ status: nxdomain, addresses: [] });
  });

  it("resolves in both families", async () => {
    await answerTo("hostname=home.example.com,nas.example.com&myip=192.0.2.1,2001:db8::1");
    for (const name of ["home.example.com", "nas.example.com"]) {
      expect((await resolve(name)).addresses).toEqual(["192.0.2.1 60"]);
      expect((await resolve(name, "AAAA")).addresses).toEqual(["2001:db8::1 60"]);
    }
  });

  it("keeps its address when an update is refused", async () => {
    await answerTo("hostname=home.example.com&myip=192.0.2.1");
    await update("hostname=home.example.com&myip=192.0.2.2", "home:guess");
    expect((await resolve("home.example.com")).addresses).toEqual(["192.0.2.1 60"]);
  });
});

describe("GET /nic/update", () => {
  it("creates and changes a record, and answers nochg without a change", async () => {
    expect(await answerTo("hostname=home.example.com&myip=192.0.2.1")).toBe("good 192.0.2.1\n");
    const [created] = await records();
    expect(created).toMatchObject({ name: "home.example.com", content: "192.0.2.1", ttl: 60 });

    expect(await answerTo("hostname=home.example.com&myip=192.0.2.1")).toBe("nochg 192.0.2.1\n");
    expect(await answerTo("hostname=home.example.com&myip=192.0.2.2")).toBe("good 192.0.2.2\n");
    expect(await records()).toMatchObject([{ id: created?.id, content: "192.0.2.2" }]);
  });

  it("updates several names and both address families", async () => {
    const query = "hostname=home.example.com,nas.example.com&myip=192.0.2.1,2001:db8::1";
    const good = "good 192.0.2.1,2001:db8::1\n";
    expect(await answerTo(query)).toBe(good + good);
    expect((await contents()).sort()).toEqual([
      "home.example.com 192.0.2.1",
      "home.example.com 2001:db8::1",
      "nas.example.com 192.0.2.1",
      "nas.example.com 2001:db8::1",
    ]);
    expect(await answerTo("hostname=home.example.com&myip=2001:0DB8::1")).toContain("nochg");
  });

  it("replaces two addresses of a family by one, and keeps the other family", async () => {
    await addRecord({ type: "A", name: "home", content: "192.0.2.8", ttl: 300 });
    await addRecord({ type: "A", name: "home", content: "192.0.2.9", ttl: 300 });
    await addRecord({ type: "AAAA", name: "home", content: "2001:db8::9", ttl: 300 });
    expect(await answerTo("hostname=home.example.com&myip=192.0.2.1")).toBe("good 192.0.2.1\n");
    expect((await contents()).sort()).toEqual([
      "home.example.com 192.0.2.1",
      "home.example.com 2001:db8::9",
    ]);
  });

  it("updates only the names of the account", async () => {
    const query = "hostname=www.example.com,home.example.com&myip=192.0.2.1";
    expect(await answerTo(query)).toBe("nohost\ngood 192.0.2.1\n");
    expect(await contents()).toEqual(["home.example.com 192.0.2.1"]);
  });

  it("answers dnserr and changes nothing when the record API refuses", async () => {
    await addRecord({ type: "CNAME", name: "home", content: "example.net", ttl: 300 });
    expect(await answerTo("hostname=home.example.com&myip=192.0.2.1,2001:db8::1")).toBe("dnserr\n");
    expect(await contents()).toEqual([]);
    const zone = await zoneId();
    const { result } = await (await api(`zones/${zone}/dns_records?type=CNAME`)).json<Listed>();
    await api(`zones/${zone}/dns_records/${result[0]?.id}`, { method: "DELETE" });
  });

  it("uses the caller's address by default", async () => {
    const response = await exports.default.fetch(
      "http://dns.test/nic/update?hostname=home.example.com",
      {
        headers: {
          authorization: `Basic ${btoa("home:open sesame")}`,
          "cf-connecting-ip": "192.0.2.77",
        },
      },
    );
    expect(await response.text()).toBe("good 192.0.2.77\n");
  });

  it("refuses wrong credentials with 401", async () => {
    const response = await update("hostname=home.example.com&myip=192.0.2.1", "home:guess");
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain("Basic");
    expect(await response.text()).toBe("badauth\n");
    expect(await contents()).toEqual([]);
  });

  it("answers an invalid request with the protocol's words", async () => {
    expect(await answerTo("hostname=home&myip=192.0.2.1")).toBe("notfqdn\n");
    expect((await exports.default.fetch("http://dns.test/")).status).toBe(404);
  });
});

describe("a name server that fails on purpose", () => {
  const name = "home.example.com";

  it("answers a query with SERVFAIL, and the log has it", async () => {
    await addRecord({ type: "A", name, content: "192.0.2.9", ttl: 60 });
    await dns.faults.servfail({ name, times: 1 });
    expect(await resolve(name)).toEqual({ status: 2, addresses: [] });
    expect(await resolve(name)).toEqual({ status: 0, addresses: ["192.0.2.9 60"] });
    const queries = await dns.queries();
    expect(queries).toHaveQueried(name, { type: "A", rcode: "SERVFAIL", times: 1 });
    expect(queries).toHaveQueried(name, { type: "A", times: 2 });
  });

  it("does not fail in the next test, whose log is empty", async () => {
    expect(await dns.queries()).toEqual([]);
    expect((await resolve(name)).status).toBe(3);
    expect(await dns.faults.list()).toEqual([]);
  });
});
