/**
 * A certificate authority as companies have it, and a certificate of a server at loopback.
 *
 * The authority has no limits: workerd refuses authorities that are limited to addresses, as those of
 * `src/tls/authority.ts` are.
 */
import { generateKeyPairSync } from "node:crypto";
import {
  certify,
  certifyServer,
  extension,
  keyIdentifier,
  bitString,
  boolean,
  octetString,
  sequence,
} from "../../src/tls/certificate.ts";

export interface PrivateAuthority {
  /** PEM. */
  readonly certificate: string;
  /** For `node:tls`: the certificate of "localhost" and its key. */
  readonly server: { readonly cert: string; readonly key: string };
}

const dayMilliseconds = 86_400_000;

export function makePrivateAuthority(): PrivateAuthority {
  const [authorityKeys, serverKeys] = [newKeys(), newKeys()];
  const now = Date.now();
  const options = {
    authority: "Authority of a test",
    authorityKeys,
    names: [],
    hasLoopback: true,
    notBefore: new Date(now - dayMilliseconds),
    notAfter: new Date(now + 30 * dayMilliseconds),
  };
  const certificate = certify(
    { ...options, serial: Uint8Array.of(1) },
    {
      subject: options.authority,
      publicKey: authorityKeys.publicKey,
      extensions: [
        extension("2.5.29.19", sequence(boolean(true)), "critical"),
        extension("2.5.29.15", bitString(Uint8Array.of(0b0000_0100), 2), "critical"),
        extension("2.5.29.14", octetString(keyIdentifier(authorityKeys.publicKey))),
      ],
    },
  );
  const own = certifyServer({ ...options, serial: Uint8Array.of(2) }, serverKeys.publicKey);
  const key = serverKeys.privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  return { certificate, server: { cert: own, key } };
}

function newKeys() {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}
