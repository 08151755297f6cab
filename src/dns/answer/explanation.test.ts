import { expect, test } from "vitest";
import { serve } from "../../../test/dns/support/served.ts";
import { encodeName } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import { answer } from "./answer.ts";
import { explainRule } from "./explanation.ts";
import { ExternalAddressCache } from "./external-addresses.ts";

test("explainRule() has a sentence for each rule that an answer applied", () => {
  const text =
    "*.w 300 CNAME flat\nflat 300 CNAME www ; cf_tags=cf-flatten-cname:true\nwww 300 A 192.0.2.1";
  const zones = serve({ "example.org": text });
  const made = answer(
    { name: encodeName("a.w.example.org"), type: typeCodes.A, class: 1 },
    { zones, external: new ExternalAddressCache(), nowSeconds: 0 },
  );
  if ("kind" in made) throw new Error(`the answer needs ${made.kind}`);
  expect(made.rules.map(explainRule)).toEqual([
    "the zone is example.org",
    "the name does not exist, and the wildcard *.w.example.org covers it",
    "a.w.example.org is a CNAME: the answer continues at its target",
    "the CNAME of flat.example.org is flattened: the answer has the addresses of its target",
    "www.example.org has records of this type",
  ]);
});
