/** The authorities that programs of this system trust. */
import { existsSync, readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";

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

/** PEM: the authorities of the system, or those of Node. */
export function systemCertificates(): string {
  const path = systemBundlePath();
  return path === null ? `${rootCertificates.join("\n")}\n` : readFileSync(path, "utf8");
}
