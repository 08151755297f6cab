/** `ledge dns import` */
import { readFileSync } from "node:fs";
import { counted, formatTable } from "../../base/format.ts";
import { Progress } from "../../base/progress.ts";
import { NotFoundError, UserError } from "../../base/user-error.ts";
import type { ProjectConfig } from "../../config/read-config.ts";
import { fetchZone } from "../../dns/client/fetch-zone.ts";
import { normaliseHostname } from "../../dns/record/field/hostname.ts";
import { acceptZoneName } from "../../dns/rules/zone.ts";
import type { ResourceRecord } from "../../dns/wire/resource-record.ts";
import { isTsigAlgorithm, type TsigKey } from "../../dns/wire/tsig-mac.ts";
import { UsageError, type Invocation, type LeafCommand } from "../command.ts";
import { textOption } from "../options.ts";
import { print, printRemark } from "../output.ts";
import { resolveServer, serverOptions, withDns } from "./dns-session.ts";
import { findZone, findZoneNamed, zoneArgument } from "./find-zone.ts";
import { planFile, planTransfer, type ImportPlan } from "./import-plan.ts";
import { fileBytesMax, uploadFile, uploadPlan } from "./import-upload.ts";

const leftOutShownMax = 20;
const keyForm = "NAME[:ALGORITHM]:SECRET";
const algorithmDefault = "hmac-sha256";

export const importRecords: LeafCommand = {
  name: "import",
  summary: "Adds the records of a zone file or of another name server",
  details:
    "Records that exist already are skipped, so an import can be run again. A file of at most\n" +
    "256 KiB is added completely or not at all; a larger file or a transfer is sent in parts.\n" +
    "A transfer leaves out SOA and NS of the zone itself: every zone here has its own.",
  arguments: [
    zoneArgument,
    {
      name: "FILE",
      summary: 'The zone file; "-" is standard input; not with --from',
      optional: true,
    },
  ],
  options: {
    from: { summary: "The name server to transfer the zone from (AXFR)", value: "HOST[:PORT]" },
    tsig: {
      summary: "Signs the transfer with a key of [[dns.keys]] or with this key",
      value: keyForm,
    },
    create: { summary: "Makes the zone if it does not exist" },
    proxied: { summary: "Makes records proxied where the file does not say" },
    ...serverOptions,
  },
  examples: [
    "ledge dns import example.com example.com.zone --create",
    "ledge dns import example.com --from 192.0.2.53 --tsig to-ledge:hmac-sha256:c2VjcmV0",
  ],

  async run(invocation) {
    const [word, file] = invocation.arguments as [string, string?];
    const { options } = invocation;
    checkSource(invocation, file);
    const text = file === undefined ? null : readZoneFile(file);
    const proxied = options["proxied"] === true;
    await withDns(invocation, async ({ api, project }) => {
      const zone = await (options["create"] === true ? findZoneNamed : findZone)(api, word);
      const zoneName = zone?.name ?? acceptZoneName(word, () => {});
      if (zoneName === undefined) throw new UsageError(`"${word}" is not a valid zone name.`);
      let plan: ImportPlan | null = null;
      if (text === null) {
        plan = planTransfer(await transferZone(invocation, project, zoneName), zoneName);
      } else if (Buffer.byteLength(text) > fileBytesMax) {
        plan = planFile(text, { zoneName, proxied });
      }
      const { id } = zone ?? (await api.createZone(zoneName));
      const { added, parsed, remarks } = await (
        plan === null ? uploadFile(api, id, text as string, proxied) : uploadPlan(api, id, plan)
      ).catch(async (error: unknown) => {
        if (zone === null && (await api.recordCount(id)) === 0) await api.deleteZone(id);
        throw error;
      });
      const { leftOut = [], movedTtls = [] } = plan ?? {};
      for (const remark of remarks) printRemark(remark);
      for (const line of describeLeftOut(leftOut, zoneName)) printRemark(line);
      if (movedTtls.length > 0) {
        printRemark(`${counted(movedTtls.length, "TTL")} changed to the nearest of 60 to 86400.`);
      }
      const skipped = parsed - added;
      print(
        invocation,
        { zone: zoneName, created: zone === null, parsed, added, leftOut, movedTtls },
        `Added ${counted(added, "record")} to ${zoneName}` +
          (skipped === 0
            ? "."
            : `; ${skipped} of ${parsed} exist already or belong to the zone itself.`),
      );
    });
  },
};

function checkSource({ options }: Invocation, file: string | undefined): void {
  const isTransfer = options["from"] !== undefined;
  if (isTransfer && file !== undefined) {
    throw new UsageError("FILE and --from exclude each other: use one of them.");
  }
  if (!isTransfer && file === undefined) {
    throw new UsageError('FILE is missing: a zone file, "-" for standard input, or --from HOST.');
  }
  if (!isTransfer && options["tsig"] !== undefined) throw new UsageError("--tsig needs --from.");
  if (isTransfer && options["proxied"] !== undefined) {
    throw new UsageError("--proxied applies to files only: leave it out with --from.");
  }
}

/** @param path `-` is standard input */
function readZoneFile(path: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new NotFoundError(`There is no file ${path}.`);
    throw new UserError(`Cannot read ${path}: ${message}.`, { cause: error });
  }
}

async function transferZone(
  invocation: Invocation,
  project: ProjectConfig,
  zoneName: string,
): Promise<readonly ResourceRecord[]> {
  const from = textOption(invocation, "from") as string;
  const keyText = textOption(invocation, "tsig");
  const key =
    keyText === undefined ? undefined : await parseKey(keyText, project.dns.transfers.keys);
  const server = await resolveServer("from", from);
  const progress = new Progress();
  progress.show(`Transferring ${zoneName} from ${from}`);
  try {
    return await fetchZone({ zoneName, ...server, ...(key !== undefined && { key }) });
  } finally {
    progress.end();
  }
}

/** `NAME` of a configured key, `NAME:SECRET` or `NAME:ALGORITHM:SECRET`; the secret is base64. */
async function parseKey(text: string, configured: readonly TsigKey[]): Promise<TsigKey> {
  const [nameWord = "", ...rest] = text.split(":");
  const name = normaliseHostname(nameWord);
  if (rest.length === 0) {
    const key = configured.find((candidate) => candidate.name === name);
    if (key !== undefined) return key;
    throw new UsageError(`There is no key "${text}" in [[dns.keys]]: add it, or use ${keyForm}.`);
  }
  const [algorithmWord = "", secretWord] = rest.length === 1 ? [algorithmDefault, ...rest] : rest;
  const { parseSecret } = await import("../../dns/config/dns-table.ts");
  const secret = parseSecret(secretWord);
  const algorithm = algorithmWord.toLowerCase();
  if (name === null || secret === null || rest.length > 2 || !isTsigAlgorithm(algorithm)) {
    throw new UsageError(
      `--tsig must be ${keyForm}, with an algorithm such as ${algorithmDefault} and a secret in base64.`,
    );
  }
  return { name, algorithm, secret };
}

function describeLeftOut(leftOut: ImportPlan["leftOut"], zoneName: string): string[] {
  const ofZone = leftOut.filter(({ reason }) => reason === "zone");
  const unsupported = leftOut.filter(({ reason }) => reason !== "zone");
  const lines: string[] = [];
  if (ofZone.length > 0) {
    const types = [...new Set(ofZone.map(({ type }) => type))].join(" and ");
    lines.push(`Left out ${types} of ${zoneName}: every zone here has its own.`);
  }
  if (unsupported.length > 0) {
    const shown = unsupported.slice(0, leftOutShownMax);
    const more = unsupported.length - shown.length;
    lines.push(
      `Left out ${counted(unsupported.length, "record")} that the record API cannot hold:`,
      formatTable(shown.map(({ name, type, content }) => [`  ${name}`, type, content])),
      ...(more > 0 ? [`  … and ${more} more; --json lists all of them.`] : []),
    );
  }
  return lines;
}
