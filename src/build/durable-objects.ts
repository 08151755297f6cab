/** The Durable Objects of a script, from the migrations of its configuration. */
import { isTable, type Table } from "../base/schema.ts";

export interface ObjectClass {
  readonly className: string;
  /** Names the folder of the objects' databases. A class that is renamed keeps its key. */
  readonly uniqueKey: string;
  readonly hasSql: boolean;
}

/** @param migrations in the order of the file */
export function objectClasses(migrations: unknown): ObjectClass[] {
  const classes = new Map<string, ObjectClass>();
  const add = (names: unknown, hasSql: boolean): void => {
    for (const className of textList(names)) {
      classes.set(className, { className, uniqueKey: className, hasSql });
    }
  };
  for (const migration of tableList(migrations)) {
    add(migration["new_classes"], false);
    add(migration["new_sqlite_classes"], true);
    for (const { from, to } of tableList(migration["renamed_classes"])) {
      const renamed = classes.get(from as string);
      if (renamed === undefined) continue;
      classes.delete(from as string);
      classes.set(to as string, { ...renamed, className: to as string });
    }
    for (const className of textList(migration["deleted_classes"])) classes.delete(className);
  }
  return [...classes.values()];
}

function tableList(value: unknown): Table[] {
  return Array.isArray(value) ? value.filter(isTable) : [];
}

function textList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
