/** Faults of queries as dig sees them. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Client } from "../dns/support/client.ts";
import { useDns } from "../dns/support/use.ts";
import { environment } from "./servers/peer.ts";

const records = [{ type: "A", name: "www", content: "192.0.2.1", ttl: 60 }];
const running = await useDns({ hosts: ["127.0.0.1"], zones: [{ name: "example.org", records }] });
const control = new Client(`${new URL(running.dns.url).origin}/ledge`);

/** What dig prints, also when it fails. */
async function dig(...words: readonly string[]): Promise<string> {
  const server = ["@127.0.0.1", "-p", String(running.port), "+time=15", "+tries=1"];
  const asked = [...server, "www.example.org", "A", ...words];
  const run = promisify(execFile)("dig", asked, { env: environment });
  const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
  return stdout + stderr;
}

test.each<[object, readonly string[], RegExp]>([
  [{ kind: "malformed" }, [], /Got bad packet: bad compression pointer/],
  [{ kind: "other_port" }, ["+time=1"], /timed out|no servers could be reached/],
  [{ kind: "tcp_reset" }, ["+tcp"], /connection reset/],
  [{ kind: "no_edns" }, [], /EDNS query returned status FORMERR/],
  [{ kind: "no_edns" }, ["+noedns"], /status: NOERROR[^]*\b192\.0\.2\.1\b/],
  [{ kind: "formerr" }, [], /status: FORMERR/],
  [{ kind: "notimp" }, [], /status: NOTIMP/],
  [{ kind: "nxdomain" }, [], /status: NXDOMAIN[^]*AUTHORITY: 1[^]*\bSOA\b/],
  [{ kind: "nodata" }, [], /status: NOERROR[^]*ANSWER: 0, AUTHORITY: 1[^]*\bSOA\b/],
  [{ kind: "ttl", ttl: 7 }, [], /www\.example\.org\.\s+7\s+IN\s+A\s+192\.0\.2\.1/],
  [
    { kind: "answer", type: "A", content: "192.0.2.66", ttl: 5 },
    [],
    /www\.example\.org\.\s+5\s+IN\s+A\s+192\.0\.2\.66/,
  ],
])("%j", async (fault, words, expected) => {
  await control.ok("PUT", "/query_faults", { faults: [fault] });
  expect(await dig(...words)).toMatch(expected);
});

test("the log has the client subnet and the case of dig", async () => {
  await control.ok("DELETE", "/query_faults");
  await control.ok("PUT", "/queries");
  await dig("-q", "wWw.Example.org", "+subnet=192.0.2.0/24", "+dnssec", "+bufsize=1400");
  expect(await control.ok("GET", "/queries")).toContainEqual(
    expect.objectContaining({
      name: "www.example.org",
      askedName: "wWw.Example.org",
      clientSubnet: "192.0.2.0/24",
      ednsSize: 1400,
      flags: expect.arrayContaining(["rd", "do"]),
    }),
  );
});
