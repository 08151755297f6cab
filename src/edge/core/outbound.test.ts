import { describe, expect, test } from "vitest";
import { leads, parseUrl, shown, tableOf, zoneOf } from "../../../test/support/edge-tables.ts";
import type { EdgeUrl } from "./destination.ts";
import { outbound } from "./outbound.ts";

describe("outbound()", () => {
  const records = `
    auth.example.com A 127.0.0.1 proxied
    shop.example.com A 127.0.0.2 proxied
    plain.example.com A 127.0.0.3
    saas.example.com CNAME tenant.saas.test
    far.example.com A 192.0.2.1 proxied
    `;
  const table = tableOf(
    `
    auth.example.com/* -> auth
    shop.example.com/* -> shop
    domain api.example.com -> api
    domain auth.example.com -> below
    www.example.org/* -> other
    domain self.example.com -> auth
    `,
    { buckets: { "cdn.example.com": "cdn" } },
  );
  const from =
    (script: string, isPublicFetch = false) =>
    (url: EdgeUrl) =>
      outbound(url, { script, isPublicFetch }, table, zoneOf(url.host, records));

  {
    leads(
      "of a script in its own zone follows no route",
      `
      https://shop.example.com/                 | 127.0.0.2
      https://auth.example.com/                 | below
      https://api.example.com/a                 | api
      https://cdn.example.com/key               | bucket cdn
      https://plain.example.com/                | 127.0.0.3
      https://saas.example.com/                 | internet
      https://far.example.com/                  | page 523
      https://none.example.com/                 | page 530
      https://self.example.com/                 | page 522
      https://www.example.org/                  | other
      https://www.example.org.test/             | internet
      `,
      from("auth"),
    );
  }

  const front = `
      https://shop.example.com/                 | shop
      https://auth.example.com/                 | auth
      https://api.example.com/a                 | api
      `;
  leads("of a script of another zone is as a client's request", front, from("other"));
  leads("with global_fetch_strictly_public is as a client's request", front, from("auth", true));

  test("takes zone_name, or the last two labels, where no zone of the folder has the name", () => {
    const routes = tableOf(`
      a.b.example.net/* -> deep b.example.net
      c.example.net/* -> c
      d.example.net/* -> d
      `);
    const reach = (host: string, script: string): string =>
      shown(outbound(parseUrl(`${host}/`), { script, isPublicFetch: false }, routes, null));
    expect(reach("c.example.net", "deep")).toBe("c");
    expect(reach("d.example.net", "c")).toBe("internet");
    expect(reach("a.b.example.net", "deep")).toBe("internet");
  });
});
