/** The environment of a client that trusts the local authority. */
import { describe, expect, it } from "vitest";
import { clientEnvironment, proxyOf, trustedFiles } from "./client-environment.ts";

const paths = { bundlePath: "/tmp/all.pem", proxyUrl: "http://127.0.0.1:7" };

describe("clientEnvironment()", () => {
  it("names the file of authorities and the proxy to every kind of client", () => {
    expect(clientEnvironment({ HOME: "/home/me" }, paths)).toEqual({
      HOME: "/home/me",
      SSL_CERT_FILE: "/tmp/all.pem",
      REQUESTS_CA_BUNDLE: "/tmp/all.pem",
      CURL_CA_BUNDLE: "/tmp/all.pem",
      NODE_EXTRA_CA_CERTS: "/tmp/all.pem",
      HTTPS_PROXY: "http://127.0.0.1:7",
      https_proxy: "http://127.0.0.1:7",
      NO_PROXY: "localhost,127.0.0.1,::1",
      no_proxy: "localhost,127.0.0.1,::1",
      NODE_USE_ENV_PROXY: "1",
    });
  });

  it("keeps the hosts that need no proxy", () => {
    const { NO_PROXY: direct } = clientEnvironment({ NO_PROXY: "a.test, localhost" }, paths);
    expect(direct).toBe("a.test,localhost,127.0.0.1,::1");
  });
});

it("trustedFiles() lists the files that the environment names, each once", () => {
  expect(
    trustedFiles({ SSL_CERT_FILE: "/a.pem", CURL_CA_BUNDLE: "/a.pem", NODE_EXTRA_CA_CERTS: "/b" }),
  ).toEqual(["/a.pem", "/b"]);
  expect(trustedFiles({ SSL_CERT_FILE: "" })).toEqual([]);
});

it("proxyOf() reads both names of the variable", () => {
  expect(proxyOf({ https_proxy: "http://p:1" })).toBe("http://p:1");
  expect(proxyOf({})).toBeUndefined();
});
