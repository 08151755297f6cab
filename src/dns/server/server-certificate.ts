/**
 * The certificate of the servers of this process: https (`api-port.ts`) and DNS over TLS
 * (`sockets.ts`). It is of the folder's authority (`tls/authority.ts`), and its key is in memory only.
 * A process that runs for months renews the certificate by itself.
 */
import { join } from "node:path";
import { makePrivateFolder } from "../../base/private-files.ts";
import { Authority, type ServerIdentity } from "../../tls/authority.ts";

/** A machine that sleeps misses a timer, so the time is compared now and then. */
const checkMilliseconds = 3_600_000;

/** The authority in the folder of the zones, which a command may be the first to use. */
export function openAuthority(folder: string, names: readonly string[]): Authority {
  makePrivateFolder(folder);
  return Authority.open(join(folder, "https"), names, new Date());
}

interface CertificateOptions {
  readonly folder: string;
  /** Names besides loopback. */
  readonly names: readonly string[];
  readonly log: (text: string) => void;
}

export class ServerCertificate {
  readonly authority: Authority;
  /** Names besides loopback. */
  readonly names: readonly string[];
  #identity: ServerIdentity;
  readonly #renewals: ((identity: ServerIdentity) => void)[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor({ folder, names, log }: CertificateOptions) {
    const authority = openAuthority(folder, names);
    [this.authority, this.names] = [authority, names];
    if (authority.isReplacement) {
      log(
        "The authority of https was made again, because its names have changed or its time ends. " +
          "Trust the new one: ledge dns trust.",
      );
    }
    this.#identity = authority.certify(names, new Date());
    this.#timer = setInterval(() => {
      const now = new Date();
      if (now < this.#identity.renewFrom) return;
      this.#identity = authority.certify(names, now);
      for (const renew of this.#renewals) renew(this.#identity);
    }, checkMilliseconds);
    this.#timer.unref();
  }

  /** What a server that starts now uses. */
  get identity(): ServerIdentity {
    return this.#identity;
  }

  /** @param renew gives a running server its next certificate */
  onRenewal(renew: (identity: ServerIdentity) => void): void {
    this.#renewals.push(renew);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
