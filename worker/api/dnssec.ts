/** /zones/{zone}/dnssec. */
import { requireValid } from "../../src/dns/record/problem.ts";
import { acceptDnssecPatch } from "../../src/dns/rules/dnssec-state.ts";
import { zoneOf, type Handlers } from "./api-call.ts";
import { readJson } from "./body.ts";

export const dnssecHandlers = {
  get: async (call) => zoneOf(call).readDnssec(),
  edit: async (call) => {
    const body = await readJson(call.request);
    const patch = requireValid((report) => acceptDnssecPatch(body, report));
    return zoneOf(call).changeDnssec(patch);
  },
  remove: async (call) => zoneOf(call).removeDnssec(),
} satisfies Handlers;
