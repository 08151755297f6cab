import { readFileSync } from "node:fs";
import { acceptZoneName } from "../../../dns/rules/zone.ts";
import { lookUpServer } from "../../../dns/client/server-address.ts";
import { fetchZone } from "../../../dns/client/fetch-zone.ts";
import { UserError } from "../../../base/user-error.ts";
import { NotFoundError, UsageError, type Invocation } from "../../command.ts";
import { ApiError, type ApiClient } from "../../../dns/client/api-client.ts";
import {
  partsOf,
  placeProblem,
  planFile,
  planTransfer,
  type ImportPlan,
  type LeftOut,
} from "../import-plan.ts";
import { counted, formatTable } from "../../../base/format.ts";
import { print, remark, textOption } from "../output.ts";
import { Progress } from "../../../base/progress.ts";
import { withDns, type DnsSession } from "../dns-session.ts";
import { parseTransferKey } from "../transfer-key.ts";
import { findZone, findZoneNamed } from "../zone.ts";

/** The API's limit for a file. */
const fileBytesMax = 262_144;
const partMax = { bytes: fileBytesMax, records: 2000 };
const leftOutShownMax = 20;
/** A name that the API does not take; the configuration can allow it. */
const nameInvalid = 9000;

interface Imported {
  readonly added: number;
  readonly parsed: number;
}

export async function importRecords(invocation: Invocation): Promise<void> {
  const [word, file] = invocation.arguments as [string, string?];
  const { options } = invocation;
  checkSource(invocation, file);
  const text = file === undefined ? null : readSource(file);
  const proxied = options["proxied"] === true;
  await withDns(invocation, async (session) => {
    const { api } = session;
    const zone = await (options["create"] === true ? findZoneNamed : findZone)(api, word);
    const zoneName = zone?.name ?? acceptZoneName(word, () => {});
    if (zoneName === undefined) throw new UsageError(`"${word}" cannot be the name of a zone.`);
    const plan =
      text === null
        ? planTransfer(await transfer(invocation, session, zoneName), zoneName)
        : Buffer.byteLength(text) > fileBytesMax
          ? planFile(text, { zoneName, proxied })
          : null;
    const { id } = zone ?? (await api.createZone(zoneName));
    const imported = await send(api, { id, isNew: zone === null }, async () =>
      plan === null ? sendFile(api, id, text as string, proxied) : sendParts(api, id, plan),
    );
    const { leftOut = [], movedTtls = [] } = plan ?? {};
    const { added, parsed } = imported;
    for (const line of describeLeftOut(leftOut, zoneName)) remark(line);
    if (movedTtls.length > 0) {
      remark(`${counted(movedTtls.length, "TTL")} outside of 60 to 86400 moved to the nearest.`);
    }
    const rest = parsed - added;
    print(
      invocation,
      { zone: zoneName, created: zone === null, parsed, added, leftOut, movedTtls },
      `Added ${counted(added, "record")} to ${zoneName}` +
        (rest === 0 ? "." : `; ${rest} of ${parsed} were there or are its own.`),
    );
  });
}

function checkSource({ options }: Invocation, file: string | undefined): void {
  const isTransfer = options["from"] !== undefined;
  if (isTransfer && file !== undefined) throw new UsageError("FILE and --from exclude each other.");
  if (!isTransfer && file === undefined) {
    throw new UsageError('FILE is missing: a zone file, "-" for standard input, or --from HOST.');
  }
  if (!isTransfer && options["tsig"] !== undefined) throw new UsageError("--tsig needs --from.");
  if (isTransfer && options["proxied"] !== undefined) {
    throw new UsageError("--proxied is for files.");
  }
}

function readSource(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new NotFoundError(`There is no file ${file}.`);
    throw new UserError(`Cannot read ${file}: ${message}.`, { cause: error });
  }
}

async function transfer(invocation: Invocation, { project }: DnsSession, zoneName: string) {
  const from = textOption(invocation, "from") as string;
  const given = textOption(invocation, "tsig");
  const key = given === undefined ? undefined : parseTransferKey(given, project.dns.transfers.keys);
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

/** A zone that was made for nothing is taken away again. */
async function send(
  api: ApiClient,
  { id, isNew }: { id: string; isNew: boolean },
  work: () => Promise<Imported>,
): Promise<Imported> {
  try {
    return await work();
  } catch (error) {
    if (isNew && (await api.recordCount(id)) === 0) await api.deleteZone(id);
    throw error;
  }
}

async function sendFile(
  api: ApiClient,
  zoneId: string,
  text: string,
  proxied: boolean,
): Promise<Imported> {
  try {
    const result = await api.importFile(zoneId, text, { proxied });
    return { added: result.recs_added, parsed: result.total_records_parsed };
  } catch (error) {
    throw explained(error, (message) => message);
  }
}

async function sendParts(
  api: ApiClient,
  zoneId: string,
  { records }: ImportPlan,
): Promise<Imported> {
  const progress = new Progress();
  let [added, parsed] = [0, 0];
  try {
    for (const part of partsOf(records, partMax)) {
      progress.show(`Adding ${parsed} of ${counted(records.length, "record")}`);
      try {
        const result = await api.importFile(zoneId, part.text, { proxied: false });
        added += result.recs_added;
        parsed += part.places.length;
      } catch (error) {
        const refused = explained(error, (message) => placeProblem(message, part));
        if (added === 0 || !(refused instanceof UserError)) throw refused;
        throw new UserError(
          `${refused.message}\n${counted(added, "record")} had been added before: run it again for the rest.`,
          { cause: error },
        );
      }
    }
    return { added, parsed };
  } finally {
    progress.end();
  }
}

function explained(error: unknown, place: (message: string) => string): unknown {
  if (!(error instanceof ApiError)) return error;
  const lines = error.problems.map(({ message, code }) => `${place(message)} (${code})`);
  if (error.problems.some(({ code }) => code === nameInvalid)) {
    lines.push('With name_rules = "dns" in [dns] any name that DNS can carry is allowed.');
  }
  return new UserError(lines.join("\n"), { cause: error });
}

function describeLeftOut(leftOut: readonly LeftOut[], zoneName: string): string[] {
  const own = leftOut.filter(({ reason }) => reason === "zone");
  const unknown = leftOut.filter(({ reason }) => reason !== "zone");
  const lines: string[] = [];
  if (own.length > 0) {
    const types = [...new Set(own.map(({ type }) => type))].join(" and ");
    lines.push(`Left out ${types} of ${zoneName}: every zone here has its own.`);
  }
  if (unknown.length > 0) {
    const shown = unknown.slice(0, leftOutShownMax);
    const more = unknown.length - shown.length;
    lines.push(
      `Left out ${counted(unknown.length, "record")} of types that the record API does not have:`,
      formatTable(shown.map(({ name, type, content }) => [`  ${name}`, type, content])),
      ...(more > 0 ? [`  … and ${more} more; --json lists them all.`] : []),
    );
  }
  return lines;
}
