/**
 * DNS over TLS and DNS over HTTPS by the clients of others: dig, kdig, curl, unbound as a resolver,
 * and BIND as a secondary. All verify the certificate with the authority of the state folder.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { credentials } from "../dns/support/client.ts";
import { useDns } from "../dns/support/use.ts";
import { freePort } from "../support/free-port.ts";
import { environment, startProcess, type RunningProcess } from "./servers/peer.ts";
import { temporaryFolder } from "./support.ts";

const zone = "example.org";
const running = await useDns({
  https_port: 0,
  tls_port: 0,
  zones: [{ name: zone, records: [{ type: "A", name: "www", content: "192.0.2.1", ttl: 60 }] }],
});
const { tlsPort, httpsUrl, url } = running.dns;
const tls = ["-p", String(tlsPort)];
const https = ["-p", new URL(httpsUrl!).port];
const http = ["-p", new URL(url).port];
const authority = join(running.folder, ".wrangler/state/v3/dns/https/authority.pem");
const trusted = [`+tls-ca=${authority}`, "+tls-hostname=localhost"];

/** What a client prints. A client that fails rejects. */
async function run(program: string, ...words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, words, { env: environment });
  return stdout;
}

function ask(program: string, ...words: readonly string[]): Promise<string> {
  return run(program, "@127.0.0.1", "+noall", "+answer", ...words);
}

const www = [`www.${zone}`, "A"];

test.each<[string, string, readonly string[]]>([
  ["dig", "TLS", [...tls, "+tls", ...trusted]],
  ["kdig", "TLS", [...tls, "+tls", ...trusted]],
  ["dig", "HTTPS by POST", [...https, "+https", ...trusted]],
  ["dig", "HTTPS by GET", [...https, "+https-get", ...trusted]],
  ["kdig", "HTTPS by POST", [...https, "+https", ...trusted]],
  ["kdig", "HTTPS by GET", [...https, "+https-get", ...trusted]],
  ["dig", "HTTP/2 without TLS", [...http, "+http-plain"]],
])("%s asks over %s", async (program, _, words) => {
  expect(await ask(program, ...words, ...www)).toContain("192.0.2.1");
});

test("dig refuses the certificate for another name", async () => {
  const words = [...tls, "+tls", `+tls-ca=${authority}`, "+tls-hostname=other.example"];
  const out = await ask("dig", ...words, ...www);
  expect(out).toContain("hostname mismatch");
  expect(out).not.toContain("192.0.2.1");
});

test.each(["dig", "kdig"])("%s transfers the zone over TLS", async (program) => {
  const out = await ask(program, ...tls, "+tls", ...trusted, zone, "AXFR");
  expect(out.match(/\sSOA\s/g)).toHaveLength(2);
  expect(out).toContain("192.0.2.1");
});

function curl(...words: readonly string[]): Promise<string> {
  return run("curl", "-sS", "--cacert", authority, "-w", "\n%{http_version}", ...words);
}

describe("curl", () => {
  const headers = Object.entries(credentials).flatMap(([name, value]) => [
    "-H",
    `${name}: ${value}`,
  ]);

  test.each([
    ["2", "--http2"],
    ["1.1", "--http1.1"],
  ])("takes HTTP/%s for the record API", async (version, option) => {
    const [body = "", used] = (await curl(option, ...headers, `${httpsUrl}/zones`)).split("\n");
    expect(used).toBe(version);
    expect(JSON.parse(body)).toMatchObject({ success: true, result: [{ name: zone }] });
  });

  test("sends and receives files by HTTP/2", async () => {
    const list = JSON.parse((await curl(...headers, `${httpsUrl}/zones`)).split("\n")[0]!);
    const records = `${httpsUrl}/zones/${list.result[0].id}/dns_records`;
    const path = join(temporaryFolder(), "zone.txt");
    const lines = Array.from({ length: 2000 }, (_, at) => `h${at} 60 IN TXT "${"x".repeat(100)}"`);
    writeFileSync(path, lines.join("\n"));
    const imported = await curl(...headers, "-F", `file=@${path}`, `${records}/import`);
    expect(imported).toMatch(/"recs_added":2000.*\n2$/);
    const exported = await curl(...headers, `${records}/export`);
    expect(exported.match(/^h\d+\.example\.org\./gm)).toHaveLength(2000);
  });
});

/** Starts a server with a configuration, and waits until it answers. */
async function startPeer(
  command: (configuration: string) => readonly [string, ...string[]],
  configuration: (place: { folder: string; port: number }) => string,
  zoneName: string,
): Promise<RunningProcess> {
  const place = { folder: temporaryFolder(), port: await freePort() };
  const path = join(place.folder, "configuration");
  writeFileSync(path, configuration(place));
  return startProcess(command(path), { ...place, zoneName });
}

/** @param name of the certificate that unbound wants */
function startUnbound(name: string): Promise<RunningProcess> {
  return startPeer(
    (path) => ["unbound", "-d", "-c", path],
    ({ folder, port }) => `server:
  directory: "${folder}"
  chroot: ""
  username: ""
  pidfile: "${join(folder, "unbound.pid")}"
  use-syslog: no
  interface: 127.0.0.1@${port}
  do-ip6: no
  do-not-query-localhost: no
  num-threads: 1
  module-config: "iterator"
  tls-cert-bundle: "${authority}"
remote-control:
  control-enable: no
forward-zone:
  name: "${zone}"
  forward-addr: 127.0.0.1@${tlsPort}#${name}
  forward-tls-upstream: yes
`,
    "localhost",
  );
}

test("unbound resolves over TLS, with a certificate for the right name only", async () => {
  for (const [name, answer] of [
    ["localhost", "NOERROR"],
    ["other.example", "SERVFAIL"],
  ] as const) {
    const unbound = await startUnbound(name);
    onTestFinished(() => unbound.stop());
    const out = await run("dig", "@127.0.0.1", "-p", String(unbound.port), ...www);
    expect(out).toContain(`status: ${answer}`);
  }
});

test("BIND transfers the zone over TLS", async () => {
  const named = await startPeer(
    (path) => ["named", "-g", "-c", path],
    ({ folder, port }) => `
options {
  directory "${folder}";
  pid-file "${join(folder, "named.pid")}";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  recursion no;
};
controls { };
tls ledge { ca-file "${authority}"; remote-hostname "localhost"; };
zone "${zone}" {
  type secondary;
  primaries { 127.0.0.1 port ${tlsPort} tls ledge; };
};
`,
    zone,
  );
  onTestFinished(() => named.stop());
  expect(await ask("dig", "-p", String(named.port), ...www)).toContain("192.0.2.1");
});
