/** The work of every command. They share most of it, so it is loaded as one. */
export { listBuckets } from "./buckets.ts";
export { copyObject } from "./cp.ts";
export { deleteObjects } from "./delete.ts";
export { exportObjects } from "./export.ts";
export { collectGarbage } from "./gc.ts";
export { getObject } from "./get.ts";
export { headObject } from "./head.ts";
export { importObjects } from "./import.ts";
export { listObjects } from "./list.ts";
export { putObject } from "./put.ts";
export { resetBuckets } from "./reset.ts";
export { showStats } from "./stats.ts";
