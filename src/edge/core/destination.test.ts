/** The routes are those of the documentation of the deployed platform, where it has some. */
import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { propertyRuns } from "../../../test/support/property-runs.ts";
import { leads, tableOf, zoneOf } from "../../../test/support/edge-tables.ts";
import { destination, edgeHost, routed } from "./destination.ts";
import { outbound } from "./outbound.ts";
import type { EdgeUrl } from "./route-pattern.ts";

/** Without a zone. */
function routesLead(name: string, routes: string, table: string): void {
  leads(name, table, (url) => destination(url, tableOf(routes), null));
}

describe("destination()", () => {
  routesLead(
    "of a route: scheme, host, path and query",
    `
      example.com -> root
      https://secure.example.com/* -> secure
      http://plain.example.com/* -> plain
      static.example.com/images* -> images
      Upper.Example.COM/Path -> upper
      grüße.example.com/straße/* -> idn
      xn--bcher-kva.example.com/* -> punycode
      under_score.example.com/* -> underscore
      `,
    `
      example.com                               | root
      https://example.com/                      | root
      example.com/a                             | page 404
      example.com/?a=b                          | page 404
      www.example.com/                          | page 404
      https://secure.example.com/               | secure
      http://secure.example.com/                | page 404
      plain.example.com/a/b                     | plain
      https://plain.example.com/a/b             | page 404
      static.example.com/images                 | images
      static.example.com/images2                | images
      static.example.com/images/a.png?w=1       | images
      static.example.com/image                  | page 404
      static.example.com/Images                 | page 404
      upper.example.com/Path                    | upper
      upper.example.com/path                    | page 404
      xn--gre-6ka8l.example.com/stra%C3%9Fe/1   | idn
      xn--bcher-kva.example.com/                | punycode
      under_score.example.com/                  | underscore
      `,
  );

  routesLead(
    "of a host with a wildcard",
    `
      *.example.com/* -> below
      *example.org/* -> suffix
      *example.net/* -> zone example.net
      `,
    `
      www.example.com/                          | below
      a.b.example.com/x?y                       | below
      example.com/                              | page 404
      myexample.com/                            | page 404
      example.org/                              | suffix
      www.example.org/path                      | suffix
      myexample.org/                            | suffix
      example.org.evil.test/                    | page 404
      example.net/                              | zone
      www.example.net/                          | zone
      myexample.net/                            | page 404
      `,
  );

  routesLead(
    "of any host",
    "  */* -> any\n  www.example.com/* -> www",
    `
      example.test/a                            | any
      www.example.com/                          | www
      `,
  );

  routesLead(
    "of the most specific route",
    `
      *example.com/* -> suffix
      *.example.com/* -> below
      *.a.example.com/* -> deeper
      example.com/* -> host
      example.com/hello/* -> hello
      example.com/hello/world -> world
      https://example.com/hello/* -> secure
      www.example.com/* -> www
      *.example.com/exact -> exact
      example.com/images/* -> slash
      example.com/images* -> star
      example.com/images/cats/* -> cats
      `,
    `
      www.example.com/                          | www
      www.example.com/exact                     | www
      api.example.com/                          | below
      api.example.com/exact                     | exact
      x.a.example.com/                          | deeper
      myexample.com/                            | suffix
      example.com/                              | host
      example.com/hello/mars                    | hello
      example.com/hello/world                   | world
      example.com/hello/world?a                 | hello
      https://example.com/hello/mars            | secure
      https://example.com/hello/world           | world
      example.com/images                        | star
      example.com/images123                     | star
      example.com/images/hello                  | star
      example.com/images/cats/1                 | cats
      `,
  );

  {
    const table = tableOf(
      `
      *example.com/images/cat.png -> -
      *example.com/images/* -> images
      domain shop.example.com -> shop
      shop.example.com/auth -> auth
      shop.example.com/free/* -> -
      cdn.example.com/live/* -> live
      cdn.example.com/live/raw -> -
      domain Bücher.example.com -> books
      `,
      {
        buckets: {
          "cdn.example.com": "cdn",
          "photos.store.localhost": "photos",
          "shop.example.com": "goods",
        },
      },
    );
    leads(
      "of a route without script, of custom domains and buckets",
      `
      example.com/images/dog.png                | images
      example.com/images/cat.png                | page 404
      example.com/images/cat.png?foo=bar        | images
      shop.example.com/                         | shop
      https://shop.example.com/a/b?c            | shop
      shop.example.com/auth                     | auth
      shop.example.com/auth/                    | shop
      shop.example.com/free/1                   | shop
      www.shop.example.com/                     | page 404
      xn--bcher-kva.example.com/                | books
      cdn.example.com/key                       | bucket cdn
      cdn.example.com/live/1                    | live
      cdn.example.com/live/raw                  | bucket cdn
      photos.store.localhost/a.png              | bucket photos
      photos.store/a.png                        | page 404
      `,
      (url) => destination(url, table, null),
    );
  }

  {
    const records = `
      app.example.com A 127.0.0.1 proxied
      two.example.com A 127.0.0.2 proxied
      two.example.com AAAA ::1 proxied
      mixed.example.com A 127.0.0.1
      mixed.example.com A 127.0.0.3 proxied
      mapped.example.com AAAA ::ffff:127.0.0.1 proxied
      named.example.com A 203.0.113.9 proxied
      web.example.com A 127.0.0.1 proxied
      exact.example.com A 10.1.2.3 proxied
      net.example.com A 10.9.9.9 proxied
      small.example.com A 10.8.1.1 proxied
      six.example.com AAAA fd00::5 proxied
      far.example.com A 192.0.2.1 proxied
      half.example.com A 192.0.2.1 proxied
      half.example.com A 127.0.0.4 proxied
      plain.example.com A 127.0.0.1
      mail.example.com MX mail.example.net
      local.example.com CNAME localhost proxied
      dev.example.com CNAME vite.localhost proxied
      out.example.com CNAME origin.example.net proxied
      allowed.example.com CNAME Allowed.example.net. proxied
      alias.example.com CNAME inside.example.com proxied
      ring.example.com CNAME circle.example.com proxied
      dns.example.com CNAME inside.example.com
      `;
    const table = tableOf("  routed.example.com/api/* -> api", {
      origins: [
        { host: "10.0.0.0/8", port: 8080 },
        { host: "10.8.0.0/16", port: 8888 },
        { host: "10.1.2.3", port: 9090, protocol: "https" },
        { host: "named.example.com" },
        { host: "web.example.com", port: 3000, protocol: "http" },
        { host: "fd00::/8" },
        { host: "allowed.example.net", port: 4000 },
      ],
    });
    const targets = "\n      target inside.example.com A 127.0.0.7\n";
    leads(
      "of records",
      `
      app.example.com/                          | 127.0.0.1
      two.example.com/                          | 127.0.0.2, ::1
      mixed.example.com/                        | 127.0.0.3
      mapped.example.com/                       | ::ffff:127.0.0.1
      named.example.com/                        | 203.0.113.9
      web.example.com/                          | 127.0.0.1 3000 http
      exact.example.com/                        | 10.1.2.3 9090 https
      net.example.com/                          | 10.9.9.9 8080
      small.example.com/                        | 10.8.1.1 8888
      six.example.com/                          | fd00::5
      far.example.com/                          | page 523
      half.example.com/                         | 127.0.0.4
      plain.example.com/                        | page 530
      mail.example.com/                         | page 530
      none.example.com/                         | page 530
      local.example.com/                        | 127.0.0.1, ::1
      dev.example.com/                          | 127.0.0.1, ::1
      out.example.com/                          | page 523
      allowed.example.com/                      | allowed.example.net 4000
      alias.example.com/                        | 127.0.0.7
      ring.example.com/                         | page 530
      routed.example.com/api/1                  | api
      routed.example.com/                       | page 530
      `,
      (url) => destination(url, table, zoneOf(url.host, records + targets)),
    );
  }

  it("is total, and depends on its arguments only", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.constantFrom(
        "*",
        "*.",
        "example.com",
        "a.example.com",
        "/",
        "*example.com/*",
        "a..b",
        "[::1]",
        "\ud800",
        "10.0.0.0/33",
      ),
    );
    const route = fc.record({
      pattern: fc.array(text, { maxLength: 4 }).map((parts) => parts.join("")),
      isCustomDomain: fc.boolean(),
      script: fc.option(text),
      zoneName: fc.oneof(text, fc.constant("example.com")),
    });
    const record = fc.record({
      name: text,
      type: fc.constantFrom("A", "AAAA", "CNAME", "TXT"),
      content: fc.oneof(text, fc.ipV4(), fc.ipV6()),
      proxied: fc.boolean(),
    });
    const records = fc.array(record, { maxLength: 3 });
    const world = fc.record({
      url: fc.record({
        protocol: fc.constantFrom<EdgeUrl["protocol"]>("http:", "https:"),
        host: text,
        path: text,
      }),
      table: fc.record({
        routes: fc.array(route, { maxLength: 6 }),
        buckets: fc.array(fc.record({ bucketName: text, hosts: fc.array(text, { maxLength: 2 }) })),
        settings: fc.record({
          origins: fc.array(fc.record({ host: fc.oneof(text, fc.ipV4()) })),
          country: fc.constant(null),
          hosts: fc.constant([]),
        }),
      }),
      zone: fc.option(
        fc.record({ zoneName: text, records, targets: records, names: fc.array(text) }),
      ),
    });
    fc.assert(
      fc.property(world, text, ({ url, table, zone }, header) => {
        const first = destination(url, table, zone);
        expect(["script", "bucket", "origin", "page"]).toContain(first.to);
        expect(first).not.toMatchObject({ origins: [] });
        expect(destination(structuredClone(url), structuredClone(table), zone)).toEqual(first);
        expect(routed(url, table) ?? first).toEqual(first);
        const host = edgeHost(header, table.buckets);
        expect(edgeHost(host ?? "localhost", [])).toBe(host);
        outbound(url, { script: "a", isPublicFetch: false }, table, zone);
      }),
      { numRuns: propertyRuns({ few: 100, all: 2000 }) },
    );
  });
});

describe("edgeHost()", () => {
  const buckets = [{ bucketName: "photos", hosts: ["photos.store.localhost"] }];
  const long = `${"a".repeat(63)}.`;

  test.each([
    ["photos.example.com.localhost:8787", "photos.example.com"],
    ["Photos.Example.COM.LocalHost", "photos.example.com"],
    ["photos.example.com.localhost.", "photos.example.com"],
    ["photos.example.com.:8443", "photos.example.com"],
    ["photos.example.com", "photos.example.com"],
    ["_dmarc.under_score.example.com.localhost", "_dmarc.under_score.example.com"],
    ["grüße.example.com", "xn--gre-6ka8l.example.com"],
    ["xn--gre-6ka8l.example.com.localhost", "xn--gre-6ka8l.example.com"],
    // The top-level domain store exists.
    ["photos.store.localhost:8787", "photos.store.localhost"],
    ["other.store.localhost:8787", "other.store"],
    ["photos.store", "photos.store"],
    [`${long.repeat(3)}${"a".repeat(61)}`, `${long.repeat(3)}${"a".repeat(61)}`],
  ])("of %j", (header, host) => {
    expect(edgeHost(header, buckets)).toBe(host);
  });

  test.each([
    "localhost",
    "localhost:8787",
    "LOCALHOST.",
    "tenant.localhost:8787",
    "127.0.0.1:8787",
    "192.168.1.7",
    "[::1]:8787",
    "[::1",
    "::1",
    "",
    ":8787",
    ".example.com",
    "a..example.com",
    "example.com..",
    "exa mple.com",
    "example.com/a",
    "user@example.com",
    "example.com:8787:1",
    `${"a".repeat(64)}.example.com`,
    `${long.repeat(4)}example.com`,
    "\ud800.example.com",
  ])("of %j is none", (header) => {
    expect(edgeHost(header, buckets)).toBeNull();
  });
});
