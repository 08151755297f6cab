/**
 * The certificate authority of a folder: a key and a certificate that are made once and kept, so that
 * the user tells each system once to trust it.
 *
 * One file has the key, the certificate and the names, and appears at once under its name: of two
 * processes that start together both use the authority of the first. The certificate has a file
 * of its own for clients. The key of a server is in the memory of its process only.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  X509Certificate,
} from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { readOrMakeFile, writeWhole } from "../base/private-files.ts";
import { certifyAuthority, certifyServer, type KeyPair } from "./certificate.ts";

const dayMilliseconds = 86_400_000;
const authorityDays = 3650;
/** Apple's systems refuse certificates of more than 825 days. */
const serverDays = 90;
/** A certificate with fewer days is made again. */
const renewalDays = 30;
/** The clocks of virtual machines and containers differ a little. */
const clockMilliseconds = 3_600_000;

interface StoredAuthority {
  /** `null` for an authority that is limited to no names. */
  readonly names: readonly string[] | null;
  readonly certificate: string;
  readonly key: string;
}

export interface ServerIdentity {
  /** PEM, as `node:tls` takes it: the certificate of the server and of the authority. */
  readonly cert: string;
  readonly key: string;
  /** The server needs a new certificate from this time on. */
  readonly renewFrom: Date;
}

export class Authority {
  /** Empty for an authority in memory. */
  readonly certificatePath: string;
  /** Names besides loopback for which the authority makes certificates, and for the names below them. */
  readonly names: readonly string[];
  readonly certificate: string;
  /** Whether clients that trusted an earlier authority of the folder have to trust this one. */
  readonly isReplacement: boolean;
  readonly #key: string;
  readonly #isLimited: boolean;

  private constructor(path: string, stored: StoredAuthority, isReplacement: boolean) {
    this.certificatePath = path;
    this.names = stored.names ?? [];
    this.#isLimited = stored.names !== null;
    this.certificate = stored.certificate;
    this.isReplacement = isReplacement;
    this.#key = stored.key;
  }

  /** An authority that is missing, ends soon or does not cover the names is made. */
  static open(folder: string, names: readonly string[], now: Date): Authority {
    const name = "authority.json";
    const path = join(folder, name);
    const certificatePath = join(folder, "authority.pem");
    const text = readText(path);
    const old = parse(text);
    let stored = old;
    if (stored === null || !isUsable(stored, names, now)) {
      // A file that cannot be read as an authority is replaced as well. Where there was no file, a
      // process that has started at the same time may have made it meanwhile.
      if (text !== null) rmSync(path, { force: true });
      stored = parse(readOrMakeFile({ folder, name }, () => JSON.stringify(make(names, now))));
      if (stored === null) throw new Error(`Cannot read the authority in ${path}`);
    }
    if (readText(certificatePath) !== stored.certificate) {
      writeWhole(certificatePath, stored.certificate);
    }
    return new Authority(certificatePath, stored, text !== null && stored !== old);
  }

  /** An authority of this process, for any name: only programs that the process starts trust it. */
  static temporary(now: Date): Authority {
    return new Authority("", make(null, now), false);
  }

  /** Whether clients accept certificates of this authority for the name. */
  covers(name: string): boolean {
    return !this.#isLimited || isBelow(name, ["localhost", ...this.names]);
  }

  get details(): {
    readonly name: string;
    /** SHA-256. */
    readonly fingerprint: string;
    readonly notAfter: Date;
  } {
    const { subject, fingerprint256, validTo } = new X509Certificate(this.certificate);
    // Node writes a subject in lines: CN=Ledge local authority 0123abcd
    const name = subject.replace(/^CN=/, "");
    return { name, fingerprint: fingerprint256, notAfter: new Date(validTo) };
  }

  /** A new key with a certificate for loopback and the names. */
  certify(names: readonly string[], now: Date): ServerIdentity {
    return this.#certify({ names, hasLoopback: true }, now);
  }

  /**
   * A new key with a certificate for this name alone: a browser would send requests for all names of a
   * certificate on one connection.
   */
  certifyName(name: string, now: Date): ServerIdentity {
    return this.#certify({ names: [name], hasLoopback: false }, now);
  }

  #certify(
    subjects: { readonly names: readonly string[]; readonly hasLoopback: boolean },
    now: Date,
  ): ServerIdentity {
    const { publicKey, privateKey } = newKeys();
    const { name, notAfter } = this.details;
    const end = now.getTime() + serverDays * dayMilliseconds;
    const own = certifyServer(
      {
        authority: name,
        authorityKeys: keyPair(this.#key),
        ...subjects,
        serial: newSerial(),
        notBefore: startOf(now),
        notAfter: new Date(Math.min(end, notAfter.getTime())),
      },
      publicKey,
    );
    return {
      cert: own + this.certificate,
      key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
      renewFrom: new Date(end - renewalDays * dayMilliseconds),
    };
  }
}

function make(names: readonly string[] | null, now: Date): StoredAuthority {
  const authorityKeys = newKeys();
  const certificate = certifyAuthority({
    // Each authority has a name of its own: a list of trusted authorities shows the names only.
    authority: `Ledge local authority ${randomBytes(4).toString("hex")}`,
    authorityKeys,
    names,
    serial: newSerial(),
    notBefore: startOf(now),
    notAfter: new Date(now.getTime() + authorityDays * dayMilliseconds),
  });
  const key = authorityKeys.privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  return { names, certificate, key };
}

function isUsable(
  { names: covered, certificate }: StoredAuthority,
  names: readonly string[],
  now: Date,
): boolean {
  const end = new Date(new X509Certificate(certificate).validTo).getTime();
  // Each certificate of a server ends before the authority does.
  if (end - now.getTime() < serverDays * dayMilliseconds) return false;
  return names.every((name) => isBelow(name, covered ?? []));
}

/** Whether the name is one of the others, or below one. */
function isBelow(name: string, others: readonly string[]): boolean {
  return others.some((other) => name === other || name.endsWith(`.${other}`));
}

function parse(text: string | null): StoredAuthority | null {
  try {
    const stored = JSON.parse(text ?? "") as StoredAuthority;
    const certificate = new X509Certificate(stored.certificate);
    const isWhole = certificate.checkPrivateKey(createPrivateKey(stored.key));
    return isWhole && Array.isArray(stored.names) ? stored : null;
  } catch {
    return null;
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

function newKeys(): KeyPair {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function keyPair(pem: string): KeyPair {
  const privateKey = createPrivateKey(pem);
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

function newSerial(): Uint8Array {
  const serial = randomBytes(16);
  // Neither zero nor negative.
  serial.writeUInt8((serial.readUInt8(0) & 0x7f) | 0x40, 0);
  return serial;
}

function startOf(now: Date): Date {
  return new Date(now.getTime() - clockMilliseconds);
}

/** Where systems keep all authorities in one file: Debian, Fedora, openSUSE, Alpine and macOS. */
const bundlePaths = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/** The file with all authorities; `null` on a system without such a file. */
export function systemBundlePath(): string | null {
  return bundlePaths.find((path) => existsSync(path)) ?? null;
}

export function systemCertificates(): string {
  const path = systemBundlePath();
  return path === null ? `${rootCertificates.join("\n")}\n` : readFileSync(path, "utf8");
}
