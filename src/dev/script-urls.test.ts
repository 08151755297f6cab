import type { NetworkInterfaceInfo } from "node:os";
import { describe, expect, it } from "vitest";
import { networkUrlsOf, urlOf } from "./script-urls.ts";

const at = (hostname: string) => ({ protocol: "http", hostname, port: 8787 });

describe("urlOf()", () => {
  it.each([
    ["localhost", "http://localhost:8787"],
    ["0.0.0.0", "http://localhost:8787"],
    ["*", "http://localhost:8787"],
    ["::1", "http://[::1]:8787"],
  ])("%s is %s", (hostname, url) => {
    expect(urlOf(at(hostname))).toBe(url);
  });
});

const address = (host: string, family: string, internal: boolean) =>
  ({ address: host, family, internal }) as NetworkInterfaceInfo;

describe("networkUrlsOf()", () => {
  const interfaces = {
    lo: [address("127.0.0.1", "IPv4", true)],
    eth0: [address("192.0.2.7", "IPv4", false), address("fe80::1", "IPv6", false)],
  };

  it("lists the addresses of other interfaces for a server on all addresses", () => {
    expect(networkUrlsOf(at("0.0.0.0"), interfaces)).toEqual(["http://192.0.2.7:8787"]);
  });

  it("is empty for a server on one address", () => {
    expect(networkUrlsOf(at("localhost"), interfaces)).toEqual([]);
  });
});
