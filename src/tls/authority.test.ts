/** The authority of a folder: its files, its certificates, and when it is made again. */
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { Authority, type ServerIdentity } from "./authority.ts";
import { NameCertificates } from "./name-certificates.ts";

const now = new Date("2026-08-01T00:00:00Z");
const days = (count: number): Date => new Date(now.getTime() + count * 86_400_000);

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "ledge-authority-")), "https");
});
afterEach(() => rmSync(join(folder, ".."), { recursive: true }));

function certificateOf({ cert }: ServerIdentity): X509Certificate {
  return new X509Certificate(cert);
}

describe("Authority.open()", () => {
  it("keeps the authority, in files that only the user can read", () => {
    const first = Authority.open(folder, ["api.example"], now);
    const second = Authority.open(folder, ["api.example"], days(300));
    expect(second.certificate).toBe(first.certificate);
    expect([first.isReplacement, second.isReplacement]).toEqual([false, false]);
    expect(readFileSync(first.certificatePath, "utf8")).toBe(first.certificate);
    expect(readdirSync(folder).sort()).toEqual(["authority.json", "authority.pem"]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(folder)) {
      expect(statSync(join(folder, file)).mode & 0o777, `the mode of ${file}`).toBe(0o600);
    }
  });

  it.each([
    ["ends before the next certificate would", [], days(3600)],
    ["does not cover a name", ["other.example"], now],
  ])("replaces an authority that %s", (_, names, date) => {
    const first = Authority.open(folder, ["api.example"], now);
    const second = Authority.open(folder, names, date);
    expect(second.certificate).not.toBe(first.certificate);
    expect(second.isReplacement).toBe(true);
    expect(readFileSync(second.certificatePath, "utf8")).toBe(second.certificate);
  });

  it("keeps an authority that covers more names, and names below its names", () => {
    const first = Authority.open(folder, ["example.org", "b.example"], now);
    const second = Authority.open(folder, ["api.example.org"], now);
    expect(second.certificate).toBe(first.certificate);
  });

  it("replaces a damaged file", () => {
    const { certificatePath } = Authority.open(folder, [], now);
    writeFileSync(join(folder, "authority.json"), "{");
    writeFileSync(certificatePath, "");
    const { certificate } = Authority.open(folder, [], now);
    expect(readFileSync(certificatePath, "utf8")).toBe(certificate);
  });
});

describe("Authority.certify()", () => {
  it("makes a certificate for loopback and the names, signed by the authority", () => {
    const authority = Authority.open(folder, ["api.example"], now);
    const issuer = new X509Certificate(authority.certificate);
    const certificate = certificateOf(authority.certify(["api.example"], now));
    expect(certificate.verify(issuer.publicKey)).toBe(true);
    expect(certificate.checkIssued(issuer)).toBe(true);
    expect([certificate.ca, issuer.ca]).toEqual([false, true]);
    expect(certificate.subjectAltName).toBe(
      "DNS:localhost, DNS:*.localhost, DNS:api.example, IP Address:127.0.0.1, " +
        "IP Address:0:0:0:0:0:0:0:1",
    );
    expect(certificate.checkHost("api.example")).toBe("api.example");
    expect(certificate.checkHost("other.example")).toBeUndefined();
    expect(certificate.checkIP("127.0.0.1")).toBe("127.0.0.1");
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  });

  it("ends after 90 days, and is renewed 30 days before", () => {
    const authority = Authority.open(folder, [], now);
    const identity = authority.certify([], now);
    expect(new Date(certificateOf(identity).validTo)).toEqual(days(90));
    expect(identity.renewFrom).toEqual(days(60));
    expect(authority.details.notAfter).toEqual(days(3650));
  });
});

describe("Authority.temporary()", () => {
  it("certifies any name, and is in no file", () => {
    const authority = Authority.temporary(now);
    expect([authority.covers("a.example"), authority.certificatePath]).toEqual([true, ""]);
    const certificate = certificateOf(authority.certifyName("a.example", now));
    expect(certificate.subjectAltName).toBe("DNS:a.example");
    expect(certificate.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
  });
});

it("Authority.covers() is for loopback, the names, and names below them", () => {
  const authority = Authority.open(folder, ["api.example"], now);
  const covered = ["localhost", "a.b.localhost", "api.example", "x.api.example"];
  expect(covered.filter((name) => !authority.covers(name))).toEqual([]);
  expect(["example", "my-api.example"].filter((name) => authority.covers(name))).toEqual([]);
});

it("NameCertificates makes a certificate once, keeps the last 200, and renews them in time", () => {
  vi.useFakeTimers({ toFake: ["Date"], now });
  onTestFinished(() => void vi.useRealTimers());
  const certificates = new NameCertificates(Authority.temporary(now));
  const first = certificates.contextFor("0.example");
  for (let index = 1; index < 200; index++) certificates.contextFor(`${index}.example`);
  expect(certificates.contextFor("0.example")).toBe(first);
  const kept = Array.from({ length: 200 }, (_, index) =>
    certificates.contextFor(`${index}.example`),
  );
  certificates.contextFor("0.example");
  certificates.contextFor("200.example");
  expect(certificates.contextFor("0.example")).toBe(kept[0]);
  expect(certificates.contextFor("2.example")).toBe(kept[2]);
  expect(certificates.contextFor("1.example")).not.toBe(kept[1]);
  vi.setSystemTime(days(60));
  expect(certificates.contextFor("0.example")).not.toBe(first);
});
