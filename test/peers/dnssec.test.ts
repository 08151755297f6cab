/**
 * Validators of others on our signed zones: delv, drill and unbound validate every type and every
 * kind of answer, and unbound refuses each of the broken ones. dnsviz finds nothing to say.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Client, credentials } from "../dns/support/client.ts";
import { recordArbitrary, rdataOf } from "../dns/support/record-arbitrary.ts";
import { acceptable, startOurs, temporaryFolder } from "./support.ts";
import { freePort } from "../support/free-port.ts";
import type { RunningProcess } from "./servers/peer.ts";
import { resolve, run, startUnbound } from "./servers/unbound.ts";

const zones = ["example.org", "child.example.org", "plain.example.org"] as const;
const shapes = [
  { type: "A", name: "@", content: "192.0.2.1", ttl: 300 },
  { type: "A", name: "www", content: "192.0.2.2", ttl: 300 },
  { type: "AAAA", name: "www", content: "2001:db8::2", ttl: 300 },
  { type: "A", name: "*.wild", content: "192.0.2.3", ttl: 300 },
  { type: "CNAME", name: "*.alias-wild", content: "www.example.org", ttl: 300 },
  { type: "CNAME", name: "alias", content: "www.example.org", ttl: 300 },
  { type: "CNAME", name: "gone", content: "nothing.example.org", ttl: 300 },
  { type: "CNAME", name: "to-child", content: "www.child.example.org", ttl: 300 },
  { type: "A", name: "proxied", content: "192.0.2.4", proxied: true },
  { type: "CNAME", name: "flat", content: "www.example.org", settings: { flatten_cname: true } },
  { type: "TXT", name: "deep.below", content: '"text"', ttl: 300 },
  { type: "TXT", name: "day", content: '"the largest TTL"', ttl: 86_400 },
  { type: "NS", name: "child", content: "ns1.ledge.local", ttl: 300 },
  { type: "NS", name: "plain", content: "ns1.ledge.local", ttl: 300 },
];

const positive = [
  "example.org SOA",
  "example.org NS",
  "example.org DNSKEY",
  "example.org CDS",
  "example.org CDNSKEY",
  "www.example.org A",
  "WWW.example.org AAAA",
  "x.wild.example.org A",
  "a.b.wild.example.org A",
  "*.wild.example.org A",
  "x.alias-wild.example.org AAAA",
  "alias.example.org A",
  "to-child.example.org A",
  "proxied.example.org A",
  "proxied.example.org AAAA",
  "proxied.example.org HTTPS",
  "flat.example.org A",
  "flat.example.org AAAA",
  "child.example.org DS",
  "child.example.org SOA",
  "www.child.example.org A",
];
const negative = [
  "no.example.org A",
  "a.b.c.no.example.org A",
  "www.example.org MX",
  "example.org TXT",
  "below.example.org A",
  "x.wild.example.org MX",
  "flat.example.org MX",
  "plain.example.org DS",
  "no.child.example.org A",
  "gone.example.org A",
];

let client: Client;
let control: Client;
let port: number;
let trustAnchor: string;
const questionsOfTypes: string[] = [];

beforeAll(async () => {
  const child = { name: zones[1], records: [{ type: "A", name: "www", content: "192.0.2.7" }] };
  const plain = { name: zones[2], records: [{ type: "A", name: "www", content: "192.0.2.8" }] };
  const ours = await startOurs({
    platform_addresses: ["198.18.0.1", "2001:2::1"],
    zones: [{ name: zones[0], records: shapes }, child, plain],
  });
  client = new Client(ours.url);
  control = new Client(new URL("/ledge", ours.url).href, credentials);
  port = ours.dnsPort!;
  const idOf = async (name: string) =>
    ((await client.ok("GET", `/zones?name=${name}`)) as { id: string }[])[0]!.id;
  const sign = async (name: string) =>
    client.ok("PATCH", `/zones/${await idOf(name)}/dnssec`, { status: "active" });
  trustAnchor = (await sign(zones[0])).ds;
  await sign(zones[1]);
  const records = `/zones/${await idOf(zones[0])}/dns_records`;
  const types = Object.keys(rdataOf).filter((type) => !["CNAME", "NS", "DS"].includes(type));
  for (const type of types) {
    const requests = fc.sample(recordArbitrary(type), { numRuns: 6, seed: 4034 });
    for (const [index, request] of requests.entries()) {
      const name = `${type.toLowerCase()}-${index % 3}`;
      const record = { ...acceptable(request), name, ttl: 300, settings: {}, proxied: false };
      if ((await client.call("POST", records, record)).body.success) {
        questionsOfTypes.push(`${name}.${zones[0]} ${type}`);
      }
    }
  }
});

const place = async () => ({ folder: temporaryFolder(), port: await freePort() });

describe("unbound", () => {
  let unbound: RunningProcess;
  beforeAll(async () => {
    unbound = await startUnbound({ authority: port, zones, trustAnchor }, await place());
  });
  afterAll(() => unbound.stop());

  it("authenticates every record type", async () => {
    const questions = [...new Set(questionsOfTypes)];
    expect(questions.length).toBeGreaterThan(40);
    const found: Record<string, string> = {};
    for (const question of questions) found[question] = await resolve(unbound, question);
    expect(found).toEqual(Object.fromEntries(questions.map((each) => [each, "NOERROR ad"])));
  });

  it.each([...positive, ...negative])("authenticates %s", async (question) => {
    expect(await resolve(unbound, question)).toBe("NOERROR ad");
  });

  it("answers without authentication below an unsigned delegation", async () => {
    expect(await resolve(unbound, "www.plain.example.org A")).toBe("NOERROR");
    expect(await resolve(unbound, "no.plain.example.org A")).toBe("NXDOMAIN");
  });
});

describe("unbound refuses", () => {
  it.each([
    ["an expired signature", { kind: "expired_signature", name: "www.example.org" }],
    ["a wrong signature", { kind: "wrong_signature", name: "www.example.org" }],
    ["a zone of expired signatures", { kind: "expired_signature", zone: "example.org" }],
    ["a zone of wrong signatures", { kind: "wrong_signature", zone: "example.org" }],
    [
      "an expired denial",
      { kind: "expired_signature", name: "no.example.org" },
      "no.example.org A",
    ],
    ["a wrong denial", { kind: "wrong_signature", name: "no.example.org" }, "no.example.org A"],
    ["a missing DS", { kind: "missing_ds", name: "child.example.org" }, "www.child.example.org A"],
    [
      "missing DS of a zone",
      { kind: "missing_ds", zone: "example.org" },
      "www.child.example.org A",
    ],
  ])("%s", async (_, fault, question = "www.example.org A") => {
    await control.ok("PUT", "/dnssec_faults", { faults: [fault] });
    const unbound = await startUnbound({ authority: port, zones, trustAnchor }, await place());
    try {
      expect(await resolve(unbound, question)).toBe("SERVFAIL");
      // A fault of a name leaves other names alone.
      const other = await resolve(unbound, "flat.example.org A");
      const isWhole = "zone" in fault && fault.kind !== "missing_ds";
      expect(other).toBe(isWhole ? "SERVFAIL" : "NOERROR ad");
    } finally {
      await unbound.stop();
      await control.ok("DELETE", "/dnssec_faults");
    }
  });
});

const delv = (question: string) => {
  const [tag, algorithm, digestType, digest] = trustAnchor.split(" DS ")[1]!.split(" ");
  const file = join(temporaryFolder(), "anchor");
  const anchor = `static-ds ${tag} ${algorithm} ${digestType} "${digest}"`;
  writeFileSync(file, `trust-anchors { ${zones[0]}. ${anchor}; };\n`);
  const server = ["@127.0.0.1", "-p", `${port}`, "-a", file, `+root=${zones[0]}`];
  return run("delv", ...server, ...question.split(" "));
};

describe("delv", () => {
  it.each(positive)("validates %s", async (question) => {
    expect(await delv(question)).toMatch(/^; fully validated/m);
  });

  it.each(negative)("validates %s", async (question) => {
    // delv shows the CNAME that leads to a name that does not exist, and not the denial.
    expect(await delv(question)).toMatch(/^; (?:negative response, )?fully validated/m);
  });

  it("finds an unsigned delegation", async () => {
    expect(await delv("www.plain.example.org A")).toMatch(/^; unsigned answer/m);
  });
});

/** A file with the DNSKEY record of the key-signing key. */
async function writeKeyFile(): Promise<string> {
  const file = join(temporaryFolder(), "key");
  const words = ["@127.0.0.1", "-p", `${port}`, "+noall", "+answer"];
  const keys = (await run("dig", ...words, zones[0], "DNSKEY")).split("\n");
  writeFileSync(file, `${keys.find((line) => line.includes("257 3 13"))}\n`);
  return file;
}

describe("dnsviz", () => {
  const secureLine = /^ *\[\.\] (?!.*\[(?!\.\]).*\])/;
  const nameLine = /^[\w.*-]*(?: \[\.\])*$/;
  /** The lines of `dnsviz print` that are not of a secure set: an error or a warning has a line. */
  async function complaints(...words: string[]): Promise<string[]> {
    const [key, file] = [await writeKeyFile(), join(temporaryFolder(), "probe.json")];
    const servers = ["ns1", "ns2"].map((each) => `${each}.ledge.local=127.0.0.1:${port}`).join();
    // The plus sign: dnsviz does not ask a parent of this zone.
    const asked = [`${zones[0]}+`, zones[1]].flatMap((zone) => ["-x", `${zone}:${servers}`]);
    const probe = ["-d", "0", "-4", "-A", "-a", zones[0], ...asked, "-o", file];
    expect(await run("dnsviz", "probe", ...probe, ...words)).toBe("");
    const printed = await run("dnsviz", "print", "-t", key, "-r", file);
    expect(printed).toContain("RRSIG: example.org/13/");
    return printed.split("\n").filter((line) => !secureLine.test(line) && !nameLine.test(line));
  }
  const names = [zones[0], zones[1], "www.example.org", "no.example.org"];

  it("has no complaint", async () => {
    expect(await complaints(...names)).toEqual([]);
  });

  it("has no complaint about sets with the largest TTL", async () => {
    expect(await complaints("-R", "DNSKEY,SOA,NS,TXT", zones[0], "day.example.org")).toEqual([]);
  });

  it("complains about broken signatures", async () => {
    const faults = [{ kind: "expired_signature", name: "www.example.org" }];
    await control.ok("PUT", "/dnssec_faults", { faults });
    try {
      expect((await complaints(...names)).join("\n")).toMatch(/RRSIG.*\n.*E:EXPIRATION_IN_PAST/);
    } finally {
      await control.ok("DELETE", "/dnssec_faults");
    }
  });
});

describe("drill", () => {
  let file: string;
  beforeAll(async () => {
    file = await writeKeyFile();
  });

  it.each([...positive, ...negative])("chases the signatures of %s", async (question) => {
    const chase = ["-S", "-a", "-k", file, "-p", `${port}`, "@127.0.0.1"];
    expect(await run("drill", ...chase, ...question.split(" "))).toContain("Chase successful");
  });
});
