import { expect, it } from "vitest";
import { zoneData } from "../../../test/dns/support/served.ts";
import { makeSigning, serveSigned } from "../../../test/dns/support/signed-zone.ts";
import { ExternalAddressCache } from "../answer/external-addresses.ts";
import { formatData, typeName } from "../record/presentation.ts";
import { TransferredZone } from "./transferred-zone.ts";

const otherKey = `256 3 13 ${Buffer.alloc(64, 7).toString("base64")}`;

it("a signed zone is transferred without keys and signatures, and with keys of other servers", async () => {
  const text = `@ 300 DNSKEY ${otherKey}\nwww 300 A 192.0.2.1`;
  const zones = await serveSigned({ "example.org": text });
  const context = { zones, external: new ExternalAddressCache(), nowSeconds: 0 };
  const zone = zones.get("example.org")!;
  const copy = new TransferredZone(zone, context);
  const lines = () =>
    [...copy.records()]
      .map(({ name, type, data }) => `${name} ${typeName(type)} ${formatData(type, data)}`)
      .filter((line) => !line.includes(" NS "));
  const transferred = [`example.org DNSKEY ${otherKey}`, "www.example.org A 192.0.2.1"];
  expect(lines()).toEqual(transferred);

  // New keys are a change of the head, and no change of the records.
  const head = zoneData("example.org", [], { signing: await makeSigning("example.org") });
  const change = { serial: 8, removed: [], added: [], head };
  zones.apply("example.org", change);
  copy.follow(zones.get("example.org")!, change, context);
  expect(lines()).toEqual(transferred);
  expect(copy.since(7)).toMatchObject([{ from: 7, to: 8, removed: [], added: [] }]);
});
