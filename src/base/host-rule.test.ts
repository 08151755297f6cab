import { describe, expect, it, test } from "vitest";
import {
  corsHeaders,
  describeRefusal,
  hostName,
  isOrigin,
  loopbackOnly,
  refuseRequest,
  type HostRule,
  type RequestHead,
} from "./host-rule.ts";

const head = (more: Partial<RequestHead>): RequestHead => ({
  method: "GET",
  host: "localhost:8788",
  origin: null,
  requestedMethod: null,
  ...more,
});
const configured: HostRule = {
  hosts: ["dns.internal", "192.0.2.7", "2001:db8::7"],
  origins: ["https://app.example:3000"],
};

describe("refuseRequest()", () => {
  test.each([
    "localhost",
    "LOCALHOST:8788",
    "localhost.",
    "api.localhost:80",
    "a.b.localhost",
    "127.0.0.1",
    "127.0.0.1:8788",
    "127.255.3.4:1",
    "[::1]",
    "[::1]:8788",
    "[0:0:0:0:0:0:0:1]:8788",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
  ])("answers the loopback host %s", (host) => {
    expect(refuseRequest(head({ host }), loopbackOnly)).toBeNull();
  });

  test.each([
    "evil.example",
    "evil.example:8788",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "notlocalhost",
    "localhost..",
    ".localhost",
    "local host",
    "localhost:8788:1",
    "a@localhost",
    "localhost/",
    "localhost, evil.example",
    "",
    "::1",
    "[::1",
    "[::2]",
    "[::ffff:7f00:1]",
    "[1::1]",
    "128.0.0.1",
    "127.0.0.256",
    "127.1",
    "0.0.0.0",
    "0x7f.0.0.1",
    "127.0.0.01",
    "10.0.0.1",
    "dns.internal",
    "192.0.2.7",
    "[2001:db8::7]",
    "[0:0:0:0:0:0:0:0:0:1]",
  ])("refuses the host %j", (host) => {
    expect(refuseRequest(head({ host }), loopbackOnly)).toEqual({ refused: "host", value: host });
  });

  it("refuses a request without a host", () => {
    expect(refuseRequest(head({ host: null }), loopbackOnly)).toEqual({
      refused: "host",
      value: "",
    });
  });

  test.each(["dns.internal:8788", "DNS.internal", "192.0.2.7:80", "[2001:DB8::7]:80", "localhost"])(
    "answers the configured host %s",
    (host) => {
      expect(refuseRequest(head({ host }), configured)).toBeNull();
    },
  );

  it("refuses a host below a configured host", () => {
    expect(refuseRequest(head({ host: "a.dns.internal" }), configured)?.refused).toBe("host");
  });

  test.each(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "refuses %s from a page of another origin",
    (method) => {
      for (const origin of ["https://evil.example", "null", "file://", "http://127.0.0.1.evil"]) {
        const refusal = refuseRequest(head({ method, origin }), configured);
        expect(refusal).toEqual({ refused: "origin", value: origin });
      }
    },
  );

  it("answers requests of pages at loopback and at configured hosts", () => {
    for (const origin of ["http://localhost:8787", "https://127.0.0.1", "http://dns.internal"])
      expect(refuseRequest(head({ method: "POST", origin }), configured)).toBeNull();
  });

  it("refuses every preflight but that of a configured origin", () => {
    const preflight = head({ method: "OPTIONS", requestedMethod: "PUT" });
    const origin = "http://localhost:3000";
    expect(refuseRequest({ ...preflight, origin }, configured)).toEqual({
      refused: "preflight",
      value: origin,
    });
    const granted = { ...preflight, origin: "https://app.example:3000" };
    expect(refuseRequest(granted, configured)).toBeNull();
  });

  it("checks the host also for a configured origin", () => {
    const rebound = head({ host: "evil.example", origin: "https://app.example:3000" });
    expect(refuseRequest(rebound, configured)?.refused).toBe("host");
  });
});

describe("corsHeaders()", () => {
  const origin = "https://app.example:3000";

  it("grants nothing to pages of other origins", () => {
    expect(corsHeaders(head({}), configured)).toEqual({});
    expect(corsHeaders(head({ origin: "http://localhost:8787" }), configured)).toEqual({});
    expect(corsHeaders(head({ origin }), loopbackOnly)).toEqual({});
  });

  it("names the origin, and for a preflight the methods and headers", () => {
    expect(corsHeaders(head({ origin }), configured)).toEqual({
      "access-control-allow-origin": origin,
      vary: "origin",
    });
    const preflight = head({ method: "OPTIONS", origin, requestedMethod: "PUT" });
    expect(Object.keys(corsHeaders(preflight, configured))).toContain(
      "access-control-allow-methods",
    );
  });
});

test("hostName() drops port, brackets and final dot, and lowers the case", () => {
  expect(["A.Example.:80", "[2001:DB8::1]:8", "a b", "a:b"].map(hostName)).toEqual([
    "a.example",
    "2001:db8::1",
    null,
    null,
  ]);
});

test("isOrigin() accepts what browsers send", () => {
  expect(isOrigin("http://localhost:3000")).toBe(true);
  expect(isOrigin("https://[::1]:3000")).toBe(true);
  for (const text of ["localhost", "http://a/", "http://a/b", "http://A.example", "*", "null"])
    expect(isOrigin(text)).toBe(false);
});

test("describeRefusal() names the header and the key, and cuts long values", () => {
  const keys = { hosts: "api_hosts of [dns]", origins: "api_origins of [dns]" };
  expect(describeRefusal({ refused: "host", value: "evil.example" }, keys)).toBe(
    'Requests for the host "evil.example" are not answered, because a web page could have sent ' +
      "them. Use localhost or 127.0.0.1, or add the host to api_hosts of [dns].",
  );
  expect(describeRefusal({ refused: "origin", value: "x".repeat(9999) }, keys).length).toBeLessThan(
    300,
  );
});
