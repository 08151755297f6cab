/** `ledge dns zones` */
import { counted, formatTable } from "../../base/format.ts";
import type { ApiClient } from "../../dns/client/api-client.ts";
import { UsageError, type Invocation, type LeafCommand } from "../command.ts";
import { textOption } from "../options.ts";
import { print } from "../output.ts";
import { serverOptions, withDns } from "./dns-session.ts";
import { findZone } from "./find-zone.ts";

export const zones: LeafCommand = {
  name: "zones",
  summary: "Lists the zones, makes a zone, or deletes a zone",
  options: {
    create: { summary: "Makes a zone", value: "NAME" },
    delete: { summary: "Deletes a zone and its records; needs --yes", value: "NAME" },
    yes: { summary: "Confirms --delete", short: "y" },
    ...serverOptions,
  },
  examples: ["ledge dns zones", "ledge dns zones --create example.com"],

  async run(invocation) {
    const created = textOption(invocation, "create");
    const deleted = textOption(invocation, "delete");
    if (created !== undefined && deleted !== undefined) {
      throw new UsageError("--create and --delete exclude each other: use one of them.");
    }
    await withDns(invocation, async ({ api }) => {
      if (created !== undefined) await createZone(invocation, api, created);
      else if (deleted !== undefined) await deleteZone(invocation, api, deleted);
      else await listZones(invocation, api);
    });
  },
};

async function listZones(invocation: Invocation, api: ApiClient): Promise<void> {
  const found = await api.zones();
  const counts = await Promise.all(found.map(({ id }) => api.recordCount(id)));
  print(
    invocation,
    found.map((zone, index) => ({ ...zone, record_count: counts[index] })),
    formatTable(
      found.map(({ name, id }, index) => [name, counted(counts[index] as number, "record"), id]),
    ),
  );
}

async function createZone(invocation: Invocation, api: ApiClient, name: string): Promise<void> {
  const zone = await api.createZone(name);
  print(
    invocation,
    zone,
    `Made ${zone.name} (${zone.id}) with the name servers ${zone.name_servers.join(", ")}.`,
  );
}

async function deleteZone(invocation: Invocation, api: ApiClient, name: string): Promise<void> {
  const zone = await findZone(api, name);
  const records = counted(await api.recordCount(zone.id), "record");
  if (invocation.options["yes"] !== true) {
    throw new UsageError(
      `${zone.name} has ${records}: confirm with --yes to delete the zone and its records.`,
    );
  }
  await api.deleteZone(zone.id);
  print(invocation, { deleted: zone }, `Deleted ${zone.name} with ${records}.`);
}
