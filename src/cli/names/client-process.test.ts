/** The environment of a client that trusts the local authority. */
import { describe, expect, it } from "vitest";
import {
  clientEnvironment,
  hostsText,
  launchWords,
  nextProxies,
  trustedFiles,
} from "./client-process.ts";

const paths = { bundlePath: "/tmp/all.pem", proxyUrl: "http://127.0.0.1:7" };

describe("clientEnvironment()", () => {
  it("names the file of authorities and the proxy to every kind of client", () => {
    expect(clientEnvironment({ HOME: "/home/me" }, paths)).toEqual({
      HOME: "/home/me",
      SSL_CERT_FILE: "/tmp/all.pem",
      REQUESTS_CA_BUNDLE: "/tmp/all.pem",
      CURL_CA_BUNDLE: "/tmp/all.pem",
      GIT_SSL_CAINFO: "/tmp/all.pem",
      NODE_EXTRA_CA_CERTS: "/tmp/all.pem",
      HTTP_PROXY: "http://127.0.0.1:7",
      http_proxy: "http://127.0.0.1:7",
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

it("nextProxies() reads both names of each variable", () => {
  expect(nextProxies({ https_proxy: "http://p:1", http_proxy: "", HTTP_PROXY: "q:2" })).toEqual({
    http: null,
    https: { host: "p", port: 1, credentials: null },
  });
  expect(nextProxies({})).toEqual({ http: null, https: null });
});

/** The command that gives one program files of its own. */

const files = [
  { source: "/tmp/hosts", path: "/etc/hosts" },
  { source: "/tmp/all.pem", path: "/etc/ssl/certs/ca-certificates.crt" },
];
const mounts = ["/tmp/hosts", "/etc/hosts", "/tmp/all.pem", "/etc/ssl/certs/ca-certificates.crt"];

it("launchWords() needs a mount namespace only for root", () => {
  const words = launchWords(["client", "-v"], files, { userId: 0, groupId: 0 });
  expect(words.slice(0, 4)).toEqual(["unshare", "--mount", "--", "sh"]);
  expect(words.slice(6)).toEqual(["sh", ...mounts, "--", "client", "-v"]);
});

it("launchWords() gives any other user the user's own id again", () => {
  const words = launchWords(["client"], files, { userId: 1000, groupId: 100 });
  expect(words.slice(0, 5)).toEqual(["unshare", "--user", "--map-root-user", "--mount", "--"]);
  expect(words.slice(-6)).toEqual([
    "unshare",
    "--user",
    "--map-user=1000",
    "--map-group=100",
    "--",
    "client",
  ]);
});

it("hostsText() puts the names before the lines of the system", () => {
  expect(hostsText("127.0.0.1 localhost\n", "127.0.0.2", ["a.test", "b.test"])).toBe(
    "127.0.0.2 a.test\n127.0.0.2 b.test\n127.0.0.1 localhost\n",
  );
});
