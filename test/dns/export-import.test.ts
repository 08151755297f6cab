/** A property: an export imported into an empty zone gives equal records, for arbitrary records. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { propertyRuns } from "../support/property-runs.ts";
import { rdataOf, recordArbitrary } from "./support/record-arbitrary.ts";
import { useServer } from "./support/use.ts";

const { client } = await useServer();

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
