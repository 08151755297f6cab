import { RowSeals } from "../core/row-seal.ts";

/** The checksums of rows. */
export const seals = new RowSeals(new TextEncoder());

/** The first row of a query, as a tuple of its columns. */
export function firstRow<Row extends SqlStorageValue[]>(
  cursor: SqlStorageCursor<Record<string, SqlStorageValue>>,
): Row | undefined {
  return cursor.raw<Row>().next().value as Row | undefined;
}

/** The first row of a query that always has one. */
export function onlyRow<Row extends SqlStorageValue[]>(
  cursor: SqlStorageCursor<Record<string, SqlStorageValue>>,
): Row {
  const row = firstRow<Row>(cursor);
  if (row === undefined) throw new Error("The query returned no row");
  return row;
}
