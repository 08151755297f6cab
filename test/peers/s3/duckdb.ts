/** DuckDB with its extension httpfs, as `install.sh` has put them below `node_modules/.cache`. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { cache } from "./client-programs.ts";

const folder = join(cache, "duckdb");
const extensions = join(folder, "extensions");

/** A file with httpfs, where extensions.duckdb.org cannot be reached. */
const givenExtension = process.env["LEDGE_DUCKDB_HTTPFS"];

export const duckDbNeeds = "DuckDB or its extension is not there: test/peers/s3/install.sh.";

export const hasDuckDb =
  existsSync(folder) && (givenExtension !== undefined || existsSync(extensions));

/** What the tests use of `@duckdb/node-api`, which is not a dependency. */
interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string, options: Record<string, string>): Promise<{ connect(): Promise<Session> }>;
  };
}

interface Session {
  runAndReadAll(sql: string): Promise<{ getRowsJson(): unknown[][] }>;
}

/** @returns runs statements, and has the rows of the last */
export async function openDuckDb(): Promise<(sql: string) => Promise<unknown[][]>> {
  const { DuckDBInstance } = createRequire(join(folder, "package.json"))(
    "@duckdb/node-api",
  ) as DuckDb;
  const instance = await DuckDBInstance.create(":memory:", {
    extension_directory: extensions,
    allow_unsigned_extensions: "true",
  });
  const session = await instance.connect();
  const run = async (sql: string) => (await session.runAndReadAll(sql)).getRowsJson();
  await run(givenExtension === undefined ? "LOAD httpfs" : `LOAD '${givenExtension}'`);
  return run;
}
