import { expect, it } from "vitest";
import { readRecords, zoneData } from "../../../test/dns/support/served.ts";
import { ServedZones } from "../../dns/answer/served-zones.ts";
import { textKey } from "../../dns/wire/name.ts";
import { destination } from "../core/destination.ts";
import { viewZone } from "./view-zone.ts";

const proxied = "; cf_tags=cf-proxied:true";
const outer = readRecords(
  "example.org",
  `
  @      300 A     192.0.2.1
  @      300 MX    10 mail.example.org.
  www    1   A     127.0.0.1 ${proxied}
  *      1   A     127.0.0.2 ${proxied}
  *.sub  300 TXT   "deeper"
  cut    300 NS    ns.example.net.
  via    1   CNAME www.inner.example.org. ${proxied}
  far    1   CNAME tenant.example.net. ${proxied}
  ring   1   CNAME back.example.org. ${proxied}
  back   1   CNAME ring.example.org.
  lost   1   CNAME none.inner.example.org. ${proxied}
  `,
);
const inner = readRecords(
  "inner.example.org",
  `
  www    300 CNAME host.inner.example.org.
  host   300 A     127.0.0.7
  host   300 TXT   "beside"
  `,
);

function serve(): ServedZones {
  const zones = new ServedZones({ platformAddresses: ["127.0.0.1"] });
  zones.put(zoneData("example.org", outer));
  zones.put(zoneData("inner.example.org", inner));
  return zones;
}

/** `ZONE: NAME TYPE CONTENT …`, with the targets after `->`. */
function view(host: string, zones = serve()): string {
  const found = viewZone(zones, host);
  if (found === null) return "none";
  const [records, targets] = [found.records, found.targets].map((list) =>
    list?.map(({ name, type, content, proxied: is }) =>
      [name, type, content, ...(is ? ["proxied"] : [])].join(" "),
    ),
  );
  const text = `${found.zoneName}: ${records?.join(", ")}`;
  return targets === undefined ? text : `${text} -> ${targets.join(", ")}`;
}

it.each([
  ["www.example.org", "example.org: www.example.org A 127.0.0.1 proxied"],
  ["WWW.example.ORG.", "example.org: www.example.org A 127.0.0.1 proxied"],
  // RFC 4592: a wildcard has names that do not exist, also several labels below, and no name that exists.
  ["new.example.org", "example.org: *.example.org A 127.0.0.2 proxied"],
  ["a.b.example.org", "example.org: *.example.org A 127.0.0.2 proxied"],
  ["below.www.example.org", "example.org: "],
  ["sub.example.org", "example.org: "],
  ["x.sub.example.org", 'example.org: *.sub.example.org TXT "deeper"'],
  ["cut.example.org", "example.org: "],
  ["a.cut.example.org", "example.org: "],
  ["inner.example.org", "inner.example.org: "],
  ["other.inner.example.org", "inner.example.org: "],
  [
    "via.example.org",
    "example.org: via.example.org CNAME www.inner.example.org proxied -> host.inner.example.org A 127.0.0.7",
  ],
  ["far.example.org", "example.org: far.example.org CNAME tenant.example.net proxied"],
  ["ring.example.org", "example.org: ring.example.org CNAME back.example.org proxied -> "],
  ["lost.example.org", "example.org: lost.example.org CNAME none.inner.example.org proxied -> "],
  ["example.net", "none"],
  ["org", "none"],
  ["a..example.org", "none"],
  ["", "none"],
])("viewZone() of %j", (host, expected) => {
  expect(view(host)).toBe(expected);
});

it("viewZone() of a zone that proxies nothing has no proxied record", () => {
  const zones = serve();
  zones.put({ ...zoneData("example.org", outer), paused: true });
  expect(view("www.example.org", zones)).toBe("example.org: www.example.org A 127.0.0.1");
});

it("viewZone() has names with addresses where the name itself leads nowhere", () => {
  const zones = serve();
  expect(viewZone(zones, "www.example.org")?.names).toEqual([]);
  const names = ["host.inner.example.org", "www.inner.example.org"];
  expect(viewZone(zones, "no.inner.example.org")?.names).toEqual(names);
  const added = Array.from({ length: 30 }, (_, index) => ({
    ...inner[1],
    id: `new-${index}`,
    name: `n${index}.inner.example.org`,
  }));
  const { id, serial } = zones.at(textKey("inner.example.org"))!;
  zones.apply(id, { serial: serial + 1, removed: [], added });
  const more = viewZone(zones, "no.inner.example.org")?.names;
  expect(more).toHaveLength(20);
  expect(more).toEqual(more?.toSorted());
  expect(more).toContain("n10.inner.example.org");
});

it("destination() follows CNAMEs to their end", () => {
  const table = { routes: [], buckets: [], settings: { origins: [], country: null, hosts: [] } };
  const led = (host: string) =>
    destination({ protocol: "http:", host, path: "/" }, table, viewZone(serve(), host));
  expect(led("via.example.org")).toMatchObject({ origins: [{ address: "127.0.0.7" }] });
  expect(led("ring.example.org")).toMatchObject({ page: { status: 530 } });
});
