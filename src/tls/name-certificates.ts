/** Certificates for the names that clients ask for. Each is for its name alone, and is made when the name is asked for. */
import { createSecureContext, type SecureContext } from "node:tls";
import type { Authority } from "./authority.ts";

/** A certificate takes a millisecond to make, and 20 KB of memory. */
const keptNamesMax = 200;

export class NameCertificates {
  readonly #authority: Authority;
  readonly #made = new Map<string, { readonly context: SecureContext; readonly renewFrom: Date }>();

  constructor(authority: Authority) {
    this.#authority = authority;
  }

  contextFor(name: string): SecureContext {
    const now = new Date();
    let made = this.#made.get(name);
    if (made === undefined || made.renewFrom <= now) {
      const identity = this.#authority.certifyName(name, now);
      made = { context: createSecureContext(identity), renewFrom: identity.renewFrom };
    }
    // The names that were asked for last stay.
    this.#made.delete(name);
    this.#made.set(name, made);
    const [oldest = name] = this.#made.keys();
    if (this.#made.size > keptNamesMax) this.#made.delete(oldest);
    return made.context;
  }
}
