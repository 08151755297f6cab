/** `ledge dns`: the zones of a project. */
import type { CommandGroup } from "../command.ts";
import { add } from "./add.ts";
import { deleteRecords } from "./delete.ts";
import { dig } from "./dig.ts";
import { exportZone } from "./export.ts";
import { importZone } from "./import.ts";
import { list } from "./list.ts";
import { set } from "./set.ts";
import { zones } from "./zones.ts";

export const dns: CommandGroup = {
  name: "dns",
  summary: "The zones of a project: list, add, set, import, export, dig",
  commands: [zones, list, add, set, deleteRecords, importZone, exportZone, dig],
};
