import { describe, expect, it } from "vitest";
import { authenticate, credentials, readAccounts } from "../src/account.ts";
import { parseUpdate, recordType } from "../src/update.ts";

const accounts = [{ user: "home", password: "a:b ü", hosts: [] }];
const basic = (text: string) =>
  `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}`;

describe("credentials()", () => {
  it("splits at the first colon, and decodes UTF-8", () => {
    expect(credentials(basic("home:a:b ü"))).toEqual({ user: "home", password: "a:b ü" });
  });

  it.each([null, "", "Basic", "Basic !", "Bearer abc", `Basic ${btoa("no colon")}`])(
    "returns null for %s",
    (header) => {
      expect(credentials(header)).toBeNull();
    },
  );
});

describe("authenticate()", () => {
  it("requires the user and the password", async () => {
    expect(await authenticate(basic("home:a:b ü"), accounts)).toBe(accounts[0]);
    expect(await authenticate(basic("home:a"), accounts)).toBeNull();
    expect(await authenticate(basic("away:a:b ü"), accounts)).toBeNull();
    expect(await authenticate(null, accounts)).toBeNull();
  });
});

describe("readAccounts()", () => {
  it("parses the JSON of a secret", () => {
    expect(readAccounts(JSON.stringify(accounts))).toEqual(accounts);
  });
});

describe("recordType()", () => {
  it.each([
    ["192.0.2.1", "A"],
    ["256.0.2.1", null],
    ["192.0.02.1", null],
    ["2001:db8::1", "AAAA"],
    ["::", "AAAA"],
    ["2001:db8::1::2", null],
    ["host.example.com", null],
    ["", null],
  ])("returns the record type of %s", (address, type) => {
    expect(recordType(address)).toBe(type);
  });
});

describe("parseUpdate()", () => {
  it.each([
    ["hostname=Home.Example.com.&myip=192.0.2.1", null, ["home.example.com"], { A: "192.0.2.1" }],
    [
      "hostname=a.example.com,b.example.com&myip=192.0.2.1,2001:db8::1",
      null,
      ["a.example.com", "b.example.com"],
      { A: "192.0.2.1", AAAA: "2001:db8::1" },
    ],
    [
      "hostname=a.example.com&myipv6=2001:db8::1",
      "192.0.2.9",
      ["a.example.com"],
      { AAAA: "2001:db8::1" },
    ],
    ["hostname=a.example.com", "192.0.2.9", ["a.example.com"], { A: "192.0.2.9" }],
  ])("parses %s", (query, caller, hosts, addresses) => {
    expect(parseUpdate(new URLSearchParams(query), caller)).toEqual({ hosts, addresses });
  });

  it.each([
    ["", "notfqdn"],
    ["hostname=home&myip=192.0.2.1", "notfqdn"],
    ["hostname=a b.example.com&myip=192.0.2.1", "notfqdn"],
    [`hostname=${"a.example.com,".repeat(21)}&myip=192.0.2.1`, "numhost"],
    ["hostname=a.example.com&myip=here", "badip"],
    ["hostname=a.example.com&myip=192.0.2.1,192.0.2.2", "badip"],
    ["hostname=a.example.com", "badip"],
  ])("refuses %s", (query, error) => {
    expect(parseUpdate(new URLSearchParams(query), null)).toBe(error);
  });
});
