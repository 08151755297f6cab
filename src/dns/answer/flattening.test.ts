import { describe, expect, test } from "vitest";
import { ask, serve } from "../../../test/dns/support/served.ts";
import { ExternalAddressCache } from "./external-addresses.ts";

const soaLine = "authority example.org 1800 SOA";

describe("flattening", () => {
  const text = `
    @      600 CNAME host.example.net.
    @      600 MX    10 mail
    flat   600 CNAME target ; cf_tags=cf-flatten-cname:true
    out    1   CNAME far.example.com. ; cf_tags=cf-flatten-cname:true
    hop    600 CNAME far.example.com.
    via    600 CNAME hop ; cf_tags=cf-flatten-cname:true
    target 120 A     192.0.2.1
    target 120 A     192.0.2.2
    plain  600 CNAME target
    gone   600 CNAME nothing ; cf_tags=cf-flatten-cname:true
    one    600 CNAME two ; cf_tags=cf-flatten-cname:true
    two    600 CNAME one ; cf_tags=cf-flatten-cname:true
    back   600 CNAME example.org.
    sub    600 NS    ns.example.com.
    below  600 CNAME www.sub ; cf_tags=cf-flatten-cname:true
    prox   600 CNAME shown ; cf_tags=cf-flatten-cname:true
    shown  1   A     192.0.2.9 ; cf_tags=cf-proxied:true
    *.any  600 CNAME target ; cf_tags=cf-flatten-cname:true
    mixed  600 CNAME target
    mixed  600 TXT   "beside the CNAME"
  `;
  const texts = { "example.org": text, "example.net": "host 300 A 192.0.2.4" };
  const zones = serve(texts);

  test.each([
    ["example.org A", ["NOERROR aa", "answer example.org 300 A 192.0.2.4"]],
    ["example.org AAAA", ["NOERROR aa", soaLine]],
    ["example.org CNAME", ["NOERROR aa", soaLine]],
    ["example.org MX", ["NOERROR aa", "answer example.org 600 MX 10 mail.example.org."]],
    [
      "flat.example.org A",
      [
        "NOERROR aa",
        "answer flat.example.org 120 A 192.0.2.1",
        "answer flat.example.org 120 A 192.0.2.2",
      ],
    ],
    ["flat.example.org TXT", ["NOERROR aa", soaLine]],
    ["flat.example.org CNAME", ["NOERROR aa", soaLine]],
    ["gone.example.org A", ["NOERROR aa", soaLine]],
    [
      "mixed.example.org A",
      [
        "NOERROR aa",
        "answer mixed.example.org 120 A 192.0.2.1",
        "answer mixed.example.org 120 A 192.0.2.2",
      ],
    ],
    ["mixed.example.org CNAME", ["NOERROR aa", soaLine]],
    ["mixed.example.org MX", ["NOERROR aa", soaLine]],
    [
      "mixed.example.org TXT",
      ["NOERROR aa", 'answer mixed.example.org 600 TXT "beside the CNAME"'],
    ],
    ["one.example.org A", ["SERVFAIL"]],
    [
      "back.example.org A",
      [
        "NOERROR aa",
        "answer back.example.org 600 CNAME example.org.",
        "answer example.org 300 A 192.0.2.4",
      ],
    ],
    ["prox.example.org A", ["NOERROR aa", "answer prox.example.org 300 A 198.18.0.1"]],
    [
      "X.any.example.org A",
      [
        "NOERROR aa",
        "answer X.any.example.org 120 A 192.0.2.1",
        "answer X.any.example.org 120 A 192.0.2.2",
      ],
    ],
    ["out.example.org A", ["needs far.example.com A"]],
    ["out.example.org AAAA", ["needs far.example.com AAAA"]],
    ["via.example.org A", ["needs far.example.com A"]],
    ["below.example.org A", ["needs www.sub.example.org A"]],
    [
      "plain.example.org AAAA",
      ["NOERROR aa", "answer plain.example.org 600 CNAME target.example.org.", soaLine],
    ],
  ])("%s", (question, lines) => {
    expect(ask(zones, question)).toEqual(lines);
  });

  test("applies to all CNAMEs of a zone by a setting", () => {
    expect(ask(serve(texts, { flattenAll: true }), "plain.example.org A")).toEqual([
      "NOERROR aa",
      "answer plain.example.org 120 A 192.0.2.1",
      "answer plain.example.org 120 A 192.0.2.2",
    ]);
  });

  test("uses external addresses until their TTL ends", () => {
    const external = new ExternalAddressCache();
    const question = { name: "Far.example.com", type: "A" } as const;
    external.put(question, { addresses: ["192.0.2.7"], ttlSeconds: 60 }, 1000);
    const at = (nowSeconds: number, name: string) => ask(zones, name, { external, nowSeconds });
    expect(at(1000, "out.example.org A")[1]).toBe("answer out.example.org 60 A 192.0.2.7");
    expect(at(1059, "via.example.org A")[1]).toBe("answer via.example.org 1 A 192.0.2.7");
    expect(at(1060, "out.example.org A")).toEqual(["needs far.example.com A"]);
    external.put(question, { addresses: ["192.0.2.7"], ttlSeconds: 86_400 }, 2000);
    expect(at(2000, "out.example.org A")[1]).toBe("answer out.example.org 300 A 192.0.2.7");
    external.put(question, { addresses: [], ttlSeconds: 60 }, 3000);
    expect(at(3000, "out.example.org A")).toEqual(["NOERROR aa", soaLine]);
  });

  test("fails after a failed resolution, and resolves again soon", () => {
    const external = new ExternalAddressCache();
    external.put({ name: "far.example.com", type: "A" }, "failed", 1000);
    const at = (nowSeconds: number) => ask(zones, "out.example.org A", { external, nowSeconds });
    expect(at(1004)).toEqual(["SERVFAIL"]);
    expect(at(1005)).toEqual(["needs far.example.com A"]);
  });

  test("keeps a bounded number of external names", () => {
    const external = new ExternalAddressCache();
    const put = (name: string) =>
      external.put({ name, type: "A" }, { addresses: ["192.0.2.1"], ttlSeconds: 60 }, 0);
    for (let count = 0; count <= 10_000; count++) put(`n${count}.example.com`);
    expect(external.get({ name: "n0.example.com", type: "A" }, 1)).toBeUndefined();
    expect(external.get({ name: "n1.example.com", type: "A" }, 1)).toBeDefined();
  });
});
