/**
 * BIND serves our export, and both servers get the same queries: existing and absent names,
 * wildcards, zone cuts, every type. Each expected difference is listed with its reason.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { recordTypes } from "../../src/dns/record/types.ts";
import { Client } from "../dns/support/client.ts";
import { recordArbitrary, rdataOf } from "../dns/support/record-arbitrary.ts";
import { acceptable, startOurs, temporaryFolder } from "./support.ts";
import { freePort } from "../support/free-port.ts";
import { bind } from "./servers/name-servers.ts";
import { environment } from "./servers/peer.ts";

const zoneName = "example.org";

/** Cases that random records rarely contain. */
const shapes = [
  { type: "A", name: "*.wild", content: "192.0.2.10", ttl: 300 },
  { type: "TXT", name: "*.wild", content: '"any"', ttl: 300 },
  { type: "A", name: "there.wild", content: "192.0.2.11", ttl: 300 },
  { type: "TXT", name: "a.deep.below.wild", content: '"deep"', ttl: 300 },
  { type: "CNAME", name: "*.alias", content: "www.example.org", ttl: 300 },
  { type: "A", name: "www", content: "192.0.2.1", ttl: 300 },
  { type: "AAAA", name: "www", content: "2001:db8::1", ttl: 300 },
  { type: "CNAME", name: "one", content: "two.example.org", ttl: 300 },
  { type: "CNAME", name: "two", content: "three.example.org", ttl: 600 },
  { type: "CNAME", name: "three", content: "www.example.org", ttl: 900 },
  { type: "CNAME", name: "gone", content: "nothing.example.org", ttl: 300 },
  { type: "CNAME", name: "outside", content: "www.example.net", ttl: 300 },
  { type: "CNAME", name: "into-cut", content: "www.child.example.org", ttl: 300 },
  { type: "CNAME", name: "into-wild", content: "x.wild.example.org", ttl: 300 },
  { type: "CNAME", name: "loop-a", content: "loop-b.example.org", ttl: 300 },
  { type: "CNAME", name: "loop-b", content: "loop-a.example.org", ttl: 300 },
  { type: "NS", name: "child", content: "ns1.child.example.org", ttl: 300 },
  { type: "NS", name: "child", content: "ns.example.net", ttl: 300 },
  { type: "A", name: "ns1.child", content: "192.0.2.53", ttl: 300 },
  { type: "AAAA", name: "ns1.child", content: "2001:db8::53", ttl: 300 },
  {
    type: "DS",
    name: "child",
    data: { key_tag: 1, algorithm: 13, digest_type: 2, digest: "ab".repeat(32) },
    ttl: 300,
  },
  { type: "NS", name: "sibling", content: "ns1.child.example.org", ttl: 300 },
  { type: "A", name: "only.under.empty", content: "192.0.2.20", ttl: 300 },
];

/** Names to ask for in addition to the names of the records. */
const extraNames = [
  "nothing",
  "a.b.c.nothing",
  "x.wild",
  "x.y.wild",
  "*.wild",
  "x.there.wild",
  "below.wild",
  "deep.below.wild",
  "x.deep.below.wild",
  "x.alias",
  "wild",
  "under.empty",
  "empty",
  "x.empty",
  "www.child",
  "ns1.child",
  "x.ns1.child",
  "x.sibling",
  "WWW",
  "X.Wild",
  "www.one",
];

/** Keys of service parameters that BIND 9.18 cannot parse. */
const tooNew = /ohttp|tls-supported-groups|docpath|dohpath/;

interface Question {
  readonly name: string;
  readonly type: string;
}

/** A reply of dig, kdig or drill, for comparison. */
interface PrintedReply {
  readonly status: string;
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly answer: readonly string[];
  readonly authority: readonly string[];
  readonly additional: readonly string[];
}

/** Every reply in the output of a client, in order. */
function parseReplies(output: string): PrintedReply[] {
  return output.split("->>HEADER<<-").slice(1).map(parseReply);
}

function parseReply(text: string): PrintedReply {
  const flags = /;; flags: ([a-z ]*)/i.exec(text)?.[1]?.split(" ") ?? [];
  return {
    status: /(?:status|rcode): ([A-Z]+)/.exec(text)?.[1] ?? "",
    authoritative: flags.includes("aa"),
    truncated: flags.includes("tc"),
    answer: section(text, "ANSWER"),
    authority: section(text, "AUTHORITY"),
    additional: section(text, "ADDITIONAL"),
  };
}

/** Sorted, because the order of records has no meaning. */
function section(text: string, name: string): string[] {
  const start = text.indexOf(`;; ${name} SECTION:\n`);
  if (start < 0) return [];
  const [, ...lines] = text.slice(start).split("\n");
  const end = lines.findIndex((line) => line === "" || line.startsWith(";;"));
  return lines
    .slice(0, end < 0 ? undefined : end)
    .filter((line) => !line.startsWith(";"))
    .map((line) => line.replaceAll(/\s+/g, " ").trim())
    .sort();
}

/** An intended difference between our answers and BIND's. Any other difference is a bug. */
interface Difference {
  readonly reason: string;
  readonly explains: (asked: Question, ours: PrintedReply, theirs: PrintedReply) => boolean;
}

/** Names are compared without case (RFC 4343). */
function inLowerCase(reply: PrintedReply): PrintedReply {
  return { ...reply, answer: ownersInLowerCase(reply.answer) };
}

function ownersInLowerCase(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/^\S+/, (owner) => owner.toLowerCase())).sort();
}

const differences: readonly Difference[] = [
  {
    reason: "ANY gets one record that says so (RFC 8482); BIND gives everything",
    explains: ({ type }, ours, theirs) =>
      type === "ANY" &&
      ours.status === theirs.status &&
      ours.answer.every((line) => line.includes('HINFO "RFC8482"')),
  },
  {
    reason: "names come back in the case in which they were asked for; BIND gives the zone's",
    explains: ({ name }, ours, theirs) =>
      name !== name.toLowerCase() && isDeepStrictEqual(inLowerCase(ours), inLowerCase(theirs)),
  },
];

/** The reason of a difference; `null` when the difference is unexpected. */
function expectedDifference(
  asked: Question,
  ours: PrintedReply,
  theirs: PrintedReply,
): string | null {
  return differences.find(({ explains }) => explains(asked, ours, theirs))?.reason ?? null;
}

const reasons: readonly string[] = differences.map(({ reason }) => reason);

const servers = { ours: 0, bind: 0 };
let questions: Question[] = [];

beforeAll(async () => {
  const ours = await startOurs({ resolver: "127.0.0.1:9" });
  const client = new Client(ours.url);
  const zoneId = await client.createZone(zoneName);
  const records = `/zones/${zoneId}/dns_records`;
  const names = new Set(["@", ...extraNames]);
  const put = async (request: Record<string, unknown>) => {
    const { body } = await client.call("POST", records, request);
    if (body.success) names.add(String(request["name"]));
    return body;
  };
  for (const shape of shapes) {
    const { success, errors } = await put(shape);
    if (!success) throw new Error(`${JSON.stringify(shape)}: ${JSON.stringify(errors)}`);
  }
  // BIND refuses other records beside a CNAME. Other tests cover that our server allows some.
  for (const type of Object.keys(rdataOf).filter((each) => each !== "CNAME")) {
    const requests = fc.sample(recordArbitrary(type), { numRuns: 12, seed: 1035 });
    for (const [index, request] of requests.entries()) {
      const name = type === "NS" ? `cut-${index % 6}` : `${type.toLowerCase()}-${index % 6}`;
      if (tooNew.test(JSON.stringify(request))) continue;
      await put({ ...acceptable(request), name, ttl: 300, settings: {}, proxied: false });
    }
  }
  const folder = temporaryFolder();
  const file = join(folder, "zone");
  writeFileSync(file, await client.exportFile(zoneId));
  const peer = await bind.start({ name: zoneName, file }, { folder, port: await freePort() });
  servers.ours = ours.dnsPort!;
  servers.bind = peer.port;
  const types = [...recordTypes.keys(), "ANY", "TYPE999", "HINFO", "SPF"];
  questions = [...names].flatMap((name) =>
    types.map((type) => ({ name: name === "@" ? zoneName : `${name}.${zoneName}`, type })),
  );
  return () => peer.stop();
});

function run(program: string, args: readonly string[]): string {
  const options = { env: environment, encoding: "utf8", maxBuffer: 2 ** 28 } as const;
  return execFileSync(program, args, options);
}

/** The output of a client for the questions, in their order. */
const clients: Record<string, (port: number, asked: readonly Question[]) => PrintedReply[]> = {
  dig(port, asked) {
    const file = join(temporaryFolder(), "questions");
    writeFileSync(file, asked.map(({ name, type }) => `${name} ${type}`).join("\n"));
    const args = ["@127.0.0.1", "-p", `${port}`, "+norec", "+nocookie", "+bufsize=1232"];
    return parseReplies(run("dig", [...args, "+time=5", "-f", file]));
  },
  kdig(port, asked) {
    const chunks = Array.from({ length: Math.ceil(asked.length / 200) }, (_, index) =>
      asked.slice(index * 200, index * 200 + 200),
    );
    const args = ["@127.0.0.1", "-p", `${port}`, "+norec", "+bufsize=1232", "+time=5"];
    return chunks.flatMap((chunk) =>
      parseReplies(
        run("kdig", [...args, ...chunk.flatMap(({ name, type }) => [name, "-t", type])]),
      ),
    );
  },
  drill(port, asked) {
    return asked.flatMap(({ name, type }) =>
      parseReplies(run("drill", ["-o", "rd", "-p", `${port}`, name, "@127.0.0.1", type])),
    );
  },
};

function show({ status, authoritative, ...sections }: PrintedReply): string {
  const { answer, authority, additional } = sections;
  const flags = `${authoritative ? " aa" : ""}${sections.truncated ? " tc" : ""}`;
  return [`  ${status}${flags}`, ...answer, "--", ...authority, "--", ...additional].join(" | ");
}

/** The reasons of all differences. Throws when a difference has no reason. */
function compare(client: string, every: number): ReadonlySet<string> {
  const asked = questions.filter((_, index) => index % every === 0);
  const ours = clients[client]!(servers.ours, asked);
  const theirs = clients[client]!(servers.bind, asked);
  if (
    asked.length < 3000 / every ||
    ours.length !== asked.length ||
    theirs.length !== ours.length
  ) {
    throw new Error(`${asked.length} questions, ${ours.length} and ${theirs.length} answers`);
  }
  const unexplained: string[] = [];
  const explained = new Set<string>();
  for (const [index, question] of asked.entries()) {
    const [one, other] = [ours[index]!, theirs[index]!];
    if (isDeepStrictEqual(one, other)) continue;
    const reason = expectedDifference(question, one, other);
    if (reason !== null) explained.add(reason);
    else unexplained.push(`${question.name} ${question.type}\n${show(one)}\n${show(other)}`);
  }
  if (unexplained.length === 0) return explained;
  throw new Error(`${unexplained.length} differences:\n${unexplained.slice(0, 20).join("\n")}`);
}

describe("the answers", () => {
  it("equal those of BIND, asked by dig", () => {
    // The list contains no difference that no longer occurs.
    expect([...compare("dig", 1)].sort()).toEqual([...reasons].sort());
  });

  it("equal those of BIND, asked by kdig", () => {
    // kdig sends all names in lower case.
    expect(reasons).toEqual(expect.arrayContaining([...compare("kdig", 1)]));
  });

  it("equal those of BIND, asked by drill", () => {
    // drill needs one process for each question.
    expect(reasons).toEqual(expect.arrayContaining([...compare("drill", 30)]));
  });
});
