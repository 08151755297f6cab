/** `ledge dns zones` and `export`: whole zones. */
import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { counted, formatTable } from "../../base/format.ts";
import { UserError } from "../../base/user-error.ts";
import type { ApiClient } from "../../dns/client/api-client.ts";
import { UsageError, type Invocation, type LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { findZone, serverOptions, withDns, zoneArgument } from "./session.ts";

export const zones: LeafCommand = {
  name: "zones",
  summary: "Lists the zones, makes a zone, or deletes a zone",
  options: {
    "--create NAME": "Makes a zone",
    "--delete NAME": "Deletes a zone and its records; needs --yes",
    "-y, --yes": "Confirms --delete",
    ...serverOptions,
  },
  examples: ["ledge dns zones", "ledge dns zones --create example.com"],

  async run(invocation) {
    const created = invocation.text("create");
    const deleted = invocation.text("delete");
    if (created !== undefined && deleted !== undefined) {
      throw new UsageError("--create and --delete exclude each other: use one of them.");
    }
    await withDns(invocation, async ({ api }) => {
      if (created !== undefined) {
        const zone = await api.createZone(created);
        const servers = zone.name_servers.join(", ");
        print(invocation, zone, `Made ${zone.name} (${zone.id}) with the name servers ${servers}.`);
      } else if (deleted !== undefined) await deleteZone(invocation, api, deleted);
      else await listZones(invocation, api);
    });
  },
};

async function listZones(invocation: Invocation, api: ApiClient): Promise<void> {
  const zonesFound = await Promise.all(
    (await api.zones()).map(async (zone) => ({
      ...zone,
      record_count: await api.recordCount(zone.id),
    })),
  );
  const rows = zonesFound.map(({ name, record_count: count, id }) => [
    name,
    counted(count, "record"),
    id,
  ]);
  print(invocation, zonesFound, formatTable(rows));
}

async function deleteZone(invocation: Invocation, api: ApiClient, name: string): Promise<void> {
  const zone = await findZone(api, name);
  const records = counted(await api.recordCount(zone.id), "record");
  if (!invocation.flag("yes")) {
    throw new UsageError(
      `${zone.name} has ${records}: confirm with --yes to delete the zone and its records.`,
    );
  }
  await api.deleteZone(zone.id);
  print(invocation, { deleted: zone }, `Deleted ${zone.name} with ${records}.`);
}

export const exportRecords: LeafCommand = {
  name: "export",
  summary: "Writes a zone as a zone file",
  arguments: [zoneArgument, ["[FILE]", "The zone file; by default standard output"]],
  options: serverOptions,
  examples: ["ledge dns export example.com example.com.zone"],

  async run(invocation, word, file = "-") {
    await withDns(invocation, async ({ api }) => {
      const zone = await findZone(api, word);
      const text = await api.exportFile(zone.id);
      if (file === "-") {
        print(invocation, { zone: zone.name, text }, text.replace(/\n$/, ""));
        return;
      }
      writeZoneFile(file, text);
      print(invocation, { zone: zone.name, file }, `Wrote ${zone.name} to ${file}.`);
    });
  },
};

/** The file appears, or changes, only when it is complete. A device or a pipe is written to. */
function writeZoneFile(path: string, text: string): void {
  const partial = `${path}.${process.pid}.partial`;
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) return writeFileSync(path, text);
    writeFileSync(partial, text);
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw new UserError(`Cannot write ${path}: ${(error as Error).message}.`, { cause: error });
  }
}
