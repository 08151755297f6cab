/** The work of every command. They share most of it, so it is loaded as one. */
export { addRecord } from "./commands/add.ts";
export { deleteRecords } from "./commands/delete.ts";
export { dig } from "./commands/dig.ts";
export { exportRecords } from "./commands/export.ts";
export { importRecords } from "./commands/import.ts";
export { listRecords } from "./commands/list.ts";
export { setRecord } from "./commands/set.ts";
export { manageZones } from "./commands/zones.ts";
