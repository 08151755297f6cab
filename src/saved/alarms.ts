/**
 * The alarms of Durable Objects: a table that the runtime reads at its start, beside the time that each object has in
 * its own database.
 *
 * The runtime asks the object before it calls the alarm. So an alarm that the object does not have does no harm, and
 * of an alarm that comes too early, the runtime hears the right time. An alarm that the table lacks never comes.
 * Buckets set theirs again when they are used (`store/bucket/bucket-object.ts`).
 */
import { openPrivately } from "./private-database.ts";

/**
 * @param present the database of alarms in use; need not exist
 * @param saved a copy
 * @returns whether an alarm of the copy is missing or comes later
 */
export function lacksAlarms(present: string, saved: string, savedFolder: string): boolean {
  const wanted = readAlarms(saved, savedFolder);
  if (wanted.size === 0) return false;
  try {
    const found = readAlarms(present, savedFolder);
    return Array.from(wanted).some(([object, time]) => (found.get(object) ?? Infinity) > time);
  } catch {
    // The runtime has moved the log meanwhile, or there are no alarms.
    return true;
  }
}

/** The times by object. The runtime keeps one database for each class. */
function readAlarms(path: string, savedFolder: string): Map<string, number> {
  const opened = openPrivately(path, savedFolder);
  try {
    // The runtime counts nanoseconds, for which numbers are too small.
    const query = "SELECT actor_id, scheduled_time / 1000000 AS milliseconds FROM _cf_ALARM";
    const rows = opened.database.prepare(query).all();
    return new Map(rows.map((row) => [String(row["actor_id"]), Number(row["milliseconds"])]));
  } finally {
    opened.close();
  }
}
