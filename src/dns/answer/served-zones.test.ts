import { describe, expect, test } from "vitest";
import { ask, readRecords, zoneData } from "../../../test/dns/support/served.ts";
import { ServedZones } from "./served-zones.ts";

const soaLine = "authority example.org 1800 SOA";

describe("ServedZones", () => {
  const records = readRecords("example.org", "a.b 300 A 192.0.2.1\nwww 300 A 192.0.2.2");

  test("serves a change at once, and removes names without records", () => {
    const zones = new ServedZones({ platformAddresses: [] });
    zones.put(zoneData("example.org", records));
    const [deep] = records;
    expect(ask(zones, "b.example.org A")).toEqual(["NOERROR aa", soaLine]);
    expect(zones.apply("example.org", { serial: 8, removed: [deep!], added: [] })).toBe(true);
    expect(ask(zones, "b.example.org A")).toEqual(["NXDOMAIN aa", soaLine]);
    zones.apply("example.org", {
      serial: 9,
      removed: [],
      added: [{ ...deep!, content: "192.0.2.9" }],
    });
    expect(ask(zones, "a.b.example.org A")[1]).toBe("answer a.b.example.org 300 A 192.0.2.9");
    expect(zones.get("example.org")!.serial).toBe(9);
    expect([...zones.get("example.org")!.nodes()]).toHaveLength(4);
  });

  test("fork() has the zones as they are, and neither side sees later changes of the other", () => {
    const zones = new ServedZones({ platformAddresses: [] });
    zones.put(zoneData("example.org", records));
    const fork = zones.fork();
    const [, www] = records;
    const question = "www.example.org A";
    zones.apply("example.org", { serial: 8, removed: [www!], added: [] });
    expect(ask(zones, question)[0]).toBe("NXDOMAIN aa");
    expect(ask(fork, question)[1]).toBe("answer www.example.org 300 A 192.0.2.2");
    const added = [{ ...www!, id: "second", content: "192.0.2.3" }];
    fork.apply("example.org", { serial: 8, removed: [www!], added });
    expect(ask(fork, question)[1]).toBe("answer www.example.org 300 A 192.0.2.3");
    expect(ask(zones, question)[0]).toBe("NXDOMAIN aa");
    zones.remove("example.org");
    expect(fork.get("example.org")).toBeDefined();
  });

  test("applies new settings", () => {
    const zones = new ServedZones({ platformAddresses: [] });
    const data = zoneData("example.org", records);
    zones.put(data);
    expect(ask(zones, "example.org NS")[1]).toBe("answer example.org 86400 NS ns1.ledge.local.");
    const { soa } = data.settings;
    const settings = { ...data.settings, ns_ttl: 60, soa: { ...soa, ttl: 900 } };
    const head = { ...data, settings, nameServers: ["ns.example.org"] };
    zones.apply("example.org", { serial: 8, removed: [], added: [], head });
    expect(ask(zones, "example.org NS")).toEqual([
      "NOERROR aa",
      "answer example.org 60 NS ns.example.org.",
    ]);
    // RFC 2308 section 3: the lesser of the SOA's TTL and its MINIMUM field.
    expect(ask(zones, "x.example.org A")[1]).toBe("authority example.org 900 SOA");
  });

  test("finds a zone by id, and a name in the newest zone that contains it", () => {
    const zones = new ServedZones({ platformAddresses: [] });
    expect(zones.apply("none", { serial: 1, removed: [], added: [] })).toBe(false);
    zones.put(zoneData("example.org", records));
    zones.put({ ...zoneData("example.org", []), id: "again" });
    zones.remove("example.org");
    expect(ask(zones, "www.example.org A")).toEqual(["NXDOMAIN aa", soaLine]);
    zones.remove("again");
    expect(ask(zones, "www.example.org A")).toEqual(["REFUSED"]);
    expect(zones.get("again")).toBeUndefined();
  });
});
