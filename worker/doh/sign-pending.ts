/** Makes the signatures that an answer needs with WebCrypto, and gives them to the signer. */
import type { AnswerSigner, SignaturesNeeded } from "../../src/dns/dnssec/answer-signer.ts";
import type { SigningKey } from "../../src/dns/dnssec/zone-signing.ts";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const imported = new WeakMap<SigningKey, CryptoKey>();

async function importKey(signingKey: SigningKey): Promise<CryptoKey> {
  const known = imported.get(signingKey);
  if (known !== undefined) return known;
  const { privateKey } = signingKey;
  const key = await crypto.subtle.importKey("jwk", { ...privateKey }, algorithm, false, ["sign"]);
  imported.set(signingKey, key);
  return key;
}

export function signPending(signer: AnswerSigner): (needed: SignaturesNeeded) => Promise<void> {
  return async ({ requests }) => {
    await Promise.all(
      requests.map(async (request) => {
        const key = await importKey(request.key);
        const octets = request.octets as Uint8Array<ArrayBuffer>;
        const signature = await crypto.subtle.sign(algorithm, key, octets);
        signer.put(request, new Uint8Array(signature));
      }),
    );
  };
}
