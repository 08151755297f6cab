/** `--tsig`: a key of the configuration by its name, or one in full. */
import { isTsigAlgorithm, type TsigKey } from "../../dns/wire/tsig-mac.ts";
import { normaliseHostname } from "../../dns/record/field/hostname.ts";
import { parseSecret } from "../../config/dns-transfers.ts";
import { UsageError } from "../command.ts";

/** `NAME`, `NAME:SECRET` or `NAME:ALGORITHM:SECRET`; the secret is base64. */
export function parseTransferKey(text: string, configured: readonly TsigKey[]): TsigKey {
  const [nameWord = "", ...rest] = text.split(":");
  const name = normaliseHostname(nameWord);
  if (rest.length === 0) {
    const key = configured.find((candidate) => candidate.name === name);
    if (key !== undefined) return key;
    throw new UsageError(`There is no key "${text}" in [[dns.keys]]. In full it is ${form}.`);
  }
  const [algorithm = "", secretWord] = rest.length === 1 ? [algorithmDefault, ...rest] : rest;
  const secret = parseSecret(secretWord);
  const known = algorithm.toLowerCase();
  if (name === null || secret === null || rest.length > 2 || !isTsigAlgorithm(known)) {
    throw new UsageError(
      `--tsig must be ${form}, with an algorithm such as ${algorithmDefault} and a secret in base64.`,
    );
  }
  return { name, algorithm: known, secret };
}

const form = "NAME[:ALGORITHM]:SECRET";
const algorithmDefault = "hmac-sha256";
