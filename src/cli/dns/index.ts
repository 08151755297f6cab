/** `ledge dns`: the zones of a project. */
import type { CommandGroup } from "../command.ts";
import { add } from "./add.ts";
import { deleteRecords } from "./delete.ts";
import { dig } from "./dig.ts";
import { exportRecords } from "./export.ts";
import { importRecords } from "./import.ts";
import { listRecords } from "./list.ts";
import { set } from "./set.ts";
import { zones } from "./zones.ts";

export const dnsCommands: CommandGroup = {
  name: "dns",
  summary: "The zones of a project: list, add, set, import, export, dig",
  commands: [zones, listRecords, add, set, deleteRecords, importRecords, exportRecords, dig],
};
