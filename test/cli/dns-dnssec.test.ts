/** `ledge dns dnssec`, and the signatures in `ledge dns dig --dnssec`. */
import { expect, it, vi } from "vitest";
import { Client, credentials } from "../dns/support/client.ts";
import { DnsProject, runDns } from "../support/dns-command.ts";

const records = [{ type: "A", name: "www", content: "192.0.2.1", ttl: 300 }];
const project = new DnsProject({ zones: [{ name: "example.org", records }] });
project.serve();

it("turns DNSSEC on and off, and shows the DS record", async () => {
  expect(await project.ok("dnssec", "example.org")).toBe("DNSSEC of example.org is off.\n");
  const on = await project.ok("dnssec", "example.org", "on");
  expect(on).toMatch(
    /^DNSSEC of example\.org is on\. The DS record:\nexample\.org\. 3600 IN DS \d+ 13 2 [0-9A-F]{64}\n$/,
  );
  expect(await project.ok("dnssec", "example.org", "status")).toBe(on);
  await project.ok("dnssec", "example.org", "off");
  expect(await project.json("dnssec", "example.org")).toMatchObject({ status: "disabled" });
  const words = ["dnssec", "example.org", "maybe"];
  expect(await runDns(project.folder, words)).toMatchObject({
    code: 2,
    error: expect.stringContaining('ACTION must be on, off, status or roll, not "maybe".'),
  });
});

it("rolls the keys, and says what the roll waits for", async () => {
  await project.ok("zones", "--create", "rolled.test");
  const run = (...words: string[]) => project.run("dnssec", "rolled.test", ...words);
  expect(await run("roll")).toMatchObject({
    code: 1,
    error: expect.stringContaining("DNSSEC of rolled.test is off, so no keys are in use"),
  });
  expect(await run("status", "--pace", "10s")).toMatchObject({
    code: 2,
    error: expect.stringContaining("--pace is for the action roll."),
  });
  expect(await run("roll", "--pace", "0s")).toMatchObject({
    code: 2,
    error: expect.stringContaining("--pace must be a time from 1s to 1d"),
  });
  expect(await run("roll", "--ds-seen", "--keys", "ksk")).toMatchObject({
    code: 2,
    error: expect.stringContaining("--ds-seen is for a roll in progress"),
  });
  await project.ok("dnssec", "rolled.test", "on");
  expect(await project.ok("dnssec", "rolled.test", "roll")).toMatch(
    /^The keys roll: KSK \d+ to \d+, ZSK \d+ to \d+\.\nUntil \S+Z resolvers learn the new keys; then the new keys sign\.\nAfter that the parent gets a new DS record\.$/m,
  );
  expect(await run("roll")).toMatchObject({
    code: 1,
    error: expect.stringContaining("A roll of the keys of rolled.test is in progress."),
  });
  expect((await project.json("dnssec", "rolled.test")).roll).toMatchObject({ stage: "publish" });

  await project.ok("zones", "--create", "quick.test");
  await project.ok("dnssec", "quick.test", "on");
  await project.ok("dnssec", "quick.test", "roll", "--pace", "1s", "--keys", "ksk");
  await vi.waitFor(
    async () =>
      expect(await project.ok("dnssec", "quick.test")).toMatch(
        /^The keys roll: KSK \d+ to \d+\.\nThe new keys sign\. Waits for the parent: .*\nledge dns dnssec quick\.test roll --ds-seen$/m,
      ),
    { timeout: 60_000 },
  );
  await project.ok("dnssec", "quick.test", "roll", "--ds-seen");
  await vi.waitFor(
    async () => expect(await project.ok("dnssec", "quick.test")).not.toContain("roll"),
    { timeout: 60_000 },
  );
});

it("says what a local parent needs", async () => {
  await project.ok("zones", "--create", "child.example.org");
  expect(await project.ok("dnssec", "child.example.org", "on")).toMatch(
    /the parent zone has no DS record: give the parent zone NS records for child\.example\.org/,
  );
});

it("dig --dnssec names the key, the window and the verdict of each signature", async () => {
  expect(await project.ok("dig", "www.example.org", "--dnssec")).toContain(";; Signatures: none");
  await project.ok("dnssec", "example.org", "on");
  const printed = await project.ok("dig", "www.example.org", "--dnssec");
  expect(printed).toMatch(
    /^;; {3}www\.example\.org\. A: valid, by key \d+ \(ZSK\) of example\.org\., from \S+Z until \S+Z$/m,
  );
  expect(printed).toContain(
    ";;   example.org is signed: the answer has the signatures of its sets",
  );
  expect(await project.ok("dig", "www.example.org")).not.toContain("RRSIG");
  const keys = await project.json("dig", "example.org", "DNSKEY", "--dnssec");
  expect(keys.signatures).toMatchObject([{ type: "DNSKEY", role: "KSK", verdict: "valid" }]);
});

it.each([
  ["expired_signature", "expired"],
  ["wrong_signature", "wrong"],
])("dig --dnssec finds an %s", async (kind, verdict) => {
  const control = new Client(new URL("/ledge", project.running.url).href, credentials);
  await control.ok("PUT", "/dnssec_faults", { faults: [{ kind, name: "www.example.org" }] });
  const found = await project.json("dig", "www.example.org", "--dnssec");
  expect(found.signatures).toMatchObject([{ name: "www.example.org", type: "A", verdict }]);
  await control.ok("DELETE", "/dnssec_faults");
});
