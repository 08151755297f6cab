/** Passage of time for a stopped store. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Moves the stored times of a stopped store into the past. */
export function letTimePass(folder: string, milliseconds: number): void {
  const databases = join(folder, "store", "databases", "ledge-store-bucket");
  for (const name of readdirSync(databases).filter((file) => file.endsWith(".sqlite"))) {
    const database = new DatabaseSync(join(databases, name));
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    for (const { name: table } of tables as { name: string }[]) {
      if (table === "uploads") {
        database.exec(`UPDATE uploads SET since = since - ${milliseconds}`);
      }
      // workerd stores an alarm in two tables, in nanoseconds.
      if (table === "_cf_METADATA") {
        database.exec(`UPDATE _cf_METADATA SET value = value - ${milliseconds}000000`);
      }
      if (table === "_cf_ALARM") {
        database.exec(
          `UPDATE _cf_ALARM SET scheduled_time = scheduled_time - ${milliseconds}000000`,
        );
      }
    }
    database.close();
  }
}
