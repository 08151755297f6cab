/** A property: an export imported into an empty zone gives equal records, whatever octets they have. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { propertyRuns } from "../support/property-runs.ts";
import { composeStrings } from "../../src/dns/record/fields.ts";
import { recordType } from "../../src/dns/record/types.ts";
import { decodeMessage, encodeMessage, blankMessage } from "../../src/dns/wire/message.ts";
import { escapeLabel, textKey } from "../../src/dns/wire/name.ts";
import { classCodes } from "../../src/dns/wire/numbers.ts";
import { rdataOf, recordArbitrary } from "./support/record-arbitrary.ts";
import { useServer } from "./support/use.ts";

const { client, server } = await useServer({ config: { name_rules: "dns" } });

type Listed = Record<string, unknown>;

/** The fields that both copies share. */
async function listAll(zoneId: string): Promise<string[]> {
  const records = (await client.ok(
    "GET",
    `/zones/${zoneId}/dns_records?per_page=5000`,
  )) as Listed[];
  const ofOneCopy = new Set(["id", "zone_id"]);
  return records
    .map((record) =>
      JSON.stringify(record, (key, value) =>
        ofOneCopy.has(key) || key.endsWith("_on") ? undefined : value,
      ),
    )
    .sort();
}

/** A zone with records of every type. */
const zone = fc
  .tuple(
    ...Object.keys(rdataOf).map((type) =>
      fc.array(recordArbitrary(type), { minLength: 1, maxLength: 3 }),
    ),
  )
  .map((lists) =>
    lists.flat().map((record, index) => Object.assign({}, record, { name: `r${index}` })),
  );

test("an export imports as equal records, for all types", async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(zone, async (records) => {
      run += 1;
      const name = `copy-${run}.example`;
      const source = await client.createZone(name);
      const extra = [
        { type: "NS", name: "@", content: "ns.elsewhere.test", ttl: 300 },
        { type: "A", name: "origin", content: "192.0.2.1", proxied: true },
        { type: "CNAME", name: "p1", content: `p2.${name}`, proxied: true, comment: "chain" },
        { type: "CNAME", name: "p2", content: `origin.${name}`, proxied: true },
        { type: "A", name: "*", content: "192.0.2.2" },
        { type: "TXT", name: "_dmarc", content: "v=DMARC1; p=none" },
        { type: "TXT", name: "bücher", content: "grüße" },
      ];
      await client.ok("POST", `/zones/${source}/dns_records/batch`, {
        posts: [...records, ...extra],
      });
      const before = await listAll(source);
      expect(before).toHaveLength(records.length + extra.length);
      const file = await client.exportFile(source);

      await client.ok("DELETE", `/zones/${source}`);
      const target = await client.createZone(name);
      const answer = await client.importFile(target, file);
      // The file contains the two name servers that every zone has; they are not records.
      expect(answer.body.result).toEqual({
        recs_added: before.length,
        total_records_parsed: before.length + 2,
      });
      expect(await listAll(target)).toEqual(before);
      await client.ok("DELETE", `/zones/${target}`);
    }),
    // Shrinking a whole zone over HTTP would take minutes. The seed is printed.
    { numRuns: propertyRuns({ few: 15, all: 40 }), endOnFailure: true },
  );
});

test("an export imports even if its name servers have a TTL that no record may have", async () => {
  const zoneId = await client.createZone("short.example");
  await client.ok("PATCH", `/zones/${zoneId}/dns_settings`, { ns_ttl: 30 });
  const answer = await client.importFile(zoneId, await client.exportFile(zoneId));
  expect(answer.body.result).toEqual({ recs_added: 0, total_records_parsed: 2 });
});

/** The data of the answer to a question for TXT. */
async function answered(name: string): Promise<readonly Uint8Array[]> {
  const questions = [{ name, type: recordType("TXT").code, class: classCodes.IN }];
  const response = await fetch(`${server.origin}/dns-query`, {
    method: "POST",
    headers: { "content-type": "application/dns-message" },
    body: new Uint8Array(encodeMessage({ ...blankMessage, questions })),
  });
  return decodeMessage(await response.bytes()).answers.map(({ data }) => data);
}

test("names and texts of any octets are created, listed, answered, exported and imported", async () => {
  const owner = fc.uint8Array({ minLength: 1, maxLength: 20 });
  const text = fc.uint8Array({ minLength: 1, maxLength: 40 });
  const records = fc.uniqueArray(fc.tuple(owner, text), {
    minLength: 1,
    maxLength: 5,
    selector: ([label]) => textKey(escapeLabel(label)),
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(records, async (given) => {
      const zoneName = `octets-${++run}.example`;
      const posts = given.map(([label, octets]) => ({
        type: "TXT",
        name: `${escapeLabel(label)}.${zoneName}`,
        content: composeStrings([octets]),
      }));
      const check = async (zoneId: string) => {
        for (const [index, [, octets]] of given.entries()) {
          const { name, content } = posts[index]!;
          expect(await answered(name)).toEqual([Uint8Array.of(octets.length, ...octets)]);
          const query = new URLSearchParams({ name });
          const found = (await client.ok(
            "GET",
            `/zones/${zoneId}/dns_records?${query}`,
          )) as Listed[];
          expect(found).toMatchObject([{ content }]);
          expect(textKey(found[0]!["name"] as string)).toBe(textKey(name));
        }
      };
      const source = await client.createZone(zoneName);
      await client.ok("POST", `/zones/${source}/dns_records/batch`, { posts });
      await check(source);
      const file = await client.exportFile(source);
      await client.ok("DELETE", `/zones/${source}`);
      const target = await client.createZone(zoneName);
      expect((await client.importFile(target, file)).body.errors).toEqual([]);
      await check(target);
    }),
    { numRuns: propertyRuns({ few: 10, all: 40 }), endOnFailure: true },
  );
});

test.each(["file", "text"])("a %s that is not UTF-8 is imported as its octets", async (part) => {
  const zoneName = `latin-${part}.example`;
  const zoneId = await client.createZone(zoneName);
  const line = Buffer.from('caf\xe9 TXT "gr\xfc\xdfe" ; Stra\xdfe\n', "latin1");
  const head = `--x\r\ncontent-disposition: form-data; name="file"${part === "file" ? '; filename="z"' : ""}\r\n\r\n`;
  const answer = await client.send("POST", `/zones/${zoneId}/dns_records/import`, {
    headers: { "content-type": "multipart/form-data; boundary=x" },
    body: Buffer.concat([Buffer.from(head), line, Buffer.from("\r\n--x--\r\n")]),
  });
  expect(answer.body.errors).toEqual([]);
  expect(await client.ok("GET", `/zones/${zoneId}/dns_records`)).toMatchObject([
    { name: `caf\\233.${zoneName}`, content: '"gr\\252\\223e"', comment: "Stra\\223e" },
  ]);
  expect(await answered(`CAF\\233.${zoneName}`)).toEqual([
    Uint8Array.from([5, 0x67, 0x72, 0xfc, 0xdf, 0x65]),
  ]);
});
