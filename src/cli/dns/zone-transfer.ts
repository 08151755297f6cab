/** `--from` and `--tsig` of an import: a zone from another name server. */
import type { ProjectConfig } from "../../config/read-config.ts";
import { parseSecret } from "../../config/dns-transfers.ts";
import { fetchZone } from "../../dns/client/fetch-zone.ts";
import { lookUpServer } from "../../config/server-address.ts";
import { normaliseHostname } from "../../dns/record/field/hostname.ts";
import type { ResourceRecord } from "../../dns/wire/resource-record.ts";
import { isTsigAlgorithm, type TsigKey } from "../../dns/wire/tsig-mac.ts";
import { UsageError, type Invocation } from "../command.ts";
import { textOption } from "../options.ts";
import { Progress } from "../../base/progress.ts";

export async function transferZone(
  invocation: Invocation,
  project: ProjectConfig,
  zoneName: string,
): Promise<readonly ResourceRecord[]> {
  const from = textOption(invocation, "from") as string;
  const keyText = textOption(invocation, "tsig");
  const key = keyText === undefined ? undefined : parseKey(keyText, project.dns.transfers.keys);
  const server = await lookUpServer(from);
  if (server === null) {
    throw new UsageError(`--from must be HOST or HOST:PORT of a name server, not "${from}".`);
  }
  const progress = new Progress();
  progress.show(`Transferring ${zoneName} from ${from}`);
  try {
    return await fetchZone({ zoneName, ...server, ...(key !== undefined && { key }) });
  } finally {
    progress.end();
  }
}

const keyForm = "NAME[:ALGORITHM]:SECRET";
const algorithmDefault = "hmac-sha256";

/** `NAME` of a configured key, `NAME:SECRET` or `NAME:ALGORITHM:SECRET`; the secret is base64. */
function parseKey(text: string, configured: readonly TsigKey[]): TsigKey {
  const [nameWord = "", ...rest] = text.split(":");
  const name = normaliseHostname(nameWord);
  if (rest.length === 0) {
    const key = configured.find((candidate) => candidate.name === name);
    if (key !== undefined) return key;
    throw new UsageError(`There is no key "${text}" in [[dns.keys]]: add it, or use ${keyForm}.`);
  }
  const [algorithmWord = "", secretWord] = rest.length === 1 ? [algorithmDefault, ...rest] : rest;
  const secret = parseSecret(secretWord);
  const algorithm = algorithmWord.toLowerCase();
  if (name === null || secret === null || rest.length > 2 || !isTsigAlgorithm(algorithm)) {
    throw new UsageError(
      `--tsig must be ${keyForm}, with an algorithm such as ${algorithmDefault} and a secret in base64.`,
    );
  }
  return { name, algorithm, secret };
}
