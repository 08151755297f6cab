import { UsageError, type Invocation } from "../../command.ts";
import { counted, formatTable } from "../../../base/format.ts";
import { print, textOption } from "../output.ts";
import { withDns } from "../dns-session.ts";
import { findZone } from "../zone.ts";

export function manageZones(invocation: Invocation): Promise<void> {
  const wanted = textOption(invocation, "create");
  const unwanted = textOption(invocation, "delete");
  if (wanted !== undefined && unwanted !== undefined) {
    throw new UsageError("--create and --delete exclude each other.");
  }
  if (wanted !== undefined) return createZone(invocation, wanted);
  if (unwanted !== undefined) return deleteZone(invocation, unwanted);
  return listZones(invocation);
}

function listZones(invocation: Invocation): Promise<void> {
  return withDns(invocation, async ({ api }) => {
    const zones = await api.zones();
    const counts = await Promise.all(zones.map(({ id }) => api.recordCount(id)));
    const rows = zones.map(({ name, id }, index) => [
      name,
      counted(counts[index] as number, "record"),
      id,
    ]);
    print(
      invocation,
      zones.map((zone, index) => ({ ...zone, record_count: counts[index] })),
      formatTable(rows),
    );
  });
}

function createZone(invocation: Invocation, name: string): Promise<void> {
  return withDns(invocation, async ({ api }) => {
    const zone = await api.createZone(name);
    print(
      invocation,
      zone,
      `Made ${zone.name} (${zone.id}), with the name servers ${zone.name_servers.join(", ")}.`,
    );
  });
}

function deleteZone(invocation: Invocation, name: string): Promise<void> {
  return withDns(invocation, async ({ api }) => {
    const zone = await findZone(api, name);
    const records = counted(await api.recordCount(zone.id), "record");
    if (invocation.options["yes"] !== true) {
      throw new UsageError(`${zone.name} has ${records}: with --yes they are deleted with it.`);
    }
    await api.deleteZone(zone.id);
    print(invocation, { deleted: zone }, `Deleted ${zone.name} with ${records}.`);
  });
}
