import { expect, it, vi } from "vitest";
import { composeQuery, respondFrom, udp } from "../../../test/dns/support/query.ts";
import { serve } from "../../../test/dns/support/served.ts";
import { ExternalAddressCache } from "../answer/external-addresses.ts";
import { makeQueryHandler } from "./query-handler.ts";

it("makeQueryHandler() answers a query for an external name once before and once after it resolves", async () => {
  const zones = serve({
    "example.org": "out 300 CNAME far.example.com. ; cf_tags=cf-flatten-cname:true",
  });
  const external = new ExternalAddressCache();
  const { responder } = respondFrom(zones, { external });
  const respond = vi.spyOn(responder, "respond");
  const resolve = vi.fn(async () => ({ addresses: ["192.0.2.9"], ttlSeconds: 60 }));
  const handle = makeQueryHandler({
    responder,
    external,
    resolve,
    nowSeconds: () => 1000,
    transfer: () => expect.unreachable(),
  });
  expect(await handle(composeQuery("out.example.org A"), udp)).toBeInstanceOf(Uint8Array);
  expect(resolve.mock.calls).toEqual([[{ name: "far.example.com", type: "A" }]]);
  expect(respond).toHaveBeenCalledTimes(2);
});
