/**
 * The floor: the store's schema and hash in SQLite in this process, and files for large values.
 *
 * The floor shows the cost of a store without a runtime, isolation, validation or calls between
 * processes. The writes of one turn are one commit, with the fsync that makes the commit durable.
 * As on the other sides, files are not synced.
 */
import { createHash, randomBytes } from "node:crypto";
import { closeSync, mkdirSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type {
  Bucket,
  ListOptions,
  Page,
  PutOptions,
  Stored,
  StoredBody,
  Streams,
  Upload,
} from "./session.ts";

interface Schema {
  createTables(sql: { exec(statement: string): void }): void;
}
// A dynamic import, because the module is checked with the types of workerd and not of Node.
const schema = (await import(
  new URL("../../src/store/bucket/schema.ts", import.meta.url).href
)) as Schema;

const inlineBytesMax = 128 * 1024;

interface Row {
  readonly fields: string;
  readonly body: number | null;
  /** File names as JSON. */
  readonly segments: string | null;
}

interface Fields {
  readonly size: number;
  readonly etag: string;
}

function fieldsOf({ fields }: Row): Fields {
  const [, size, etag] = JSON.parse(fields) as [string, number, string];
  return { size, etag };
}

export function openDatabase(folder: string): DatabaseSync {
  mkdirSync(folder, { recursive: true });
  const database = new DatabaseSync(join(folder, "floor.sqlite"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  const [table] = database.prepare("SELECT name FROM sqlite_master").all();
  if (table === undefined) schema.createTables(database);
  return database;
}

export class FloorBucket implements Bucket {
  readonly #folder: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #commit: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.#database = openDatabase(folder);
  }

  close(): void {
    this.#database.close();
  }

  #sql(statement: string): StatementSync {
    let prepared = this.#statements.get(statement);
    if (prepared === undefined) {
      prepared = this.#database.prepare(statement);
      this.#statements.set(statement, prepared);
    }
    return prepared;
  }

  /** All writes of one turn are one transaction. */
  #write(): Promise<void> {
    if (this.#commit === undefined) {
      this.#sql("BEGIN").run();
      this.#commit = Promise.resolve().then(() => {
        this.#commit = undefined;
        this.#sql("COMMIT").run();
      });
    }
    return this.#commit;
  }

  #find(key: string): Row | undefined {
    return this.#sql("SELECT fields, body, segments FROM objects WHERE key = ?").get(key) as
      | Row
      | undefined;
  }

  #insert(key: string, { size, etag }: Fields, location: Omit<Row, "fields">): void {
    const fields = JSON.stringify([randomBytes(16).toString("hex"), size, etag, Date.now()]);
    this.#sql(
      "INSERT OR REPLACE INTO objects (key, fields, body, segments) VALUES (?, ?, ?, ?)",
    ).run(key, fields, location.body, location.segments);
  }

  #release({ body, segments }: Row): void {
    if (body !== null) this.#sql("DELETE FROM bodies WHERE id = ?").run(body);
    for (const name of JSON.parse(segments ?? "[]") as string[]) rmSync(join(this.#folder, name));
  }

  async put(key: string, value: Uint8Array, options: PutOptions = {}): Promise<Stored | null> {
    const { etagMatches, etagDoesNotMatch } = options.onlyIf ?? {};
    const old = this.#find(key);
    const oldEtag = old && fieldsOf(old).etag;
    if (etagMatches !== undefined && oldEtag !== etagMatches) return null;
    if (etagDoesNotMatch !== undefined && oldEtag === etagDoesNotMatch) return null;
    if (value.length > inlineBytesMax) return this.putChunks(key, [value]);
    const committed = this.#write();
    const etag = createHash("md5").update(value).digest("hex");
    const { id } = this.#sql("INSERT INTO bodies (bytes) VALUES (?) RETURNING id").get(value) as {
      id: number;
    };
    this.#insert(key, { size: value.length, etag }, { body: id, segments: null });
    if (old !== undefined) this.#release(old);
    await committed;
    return { key, size: value.length, etag };
  }

  async putChunks(key: string, chunks: Iterable<Uint8Array>): Promise<Stored> {
    const file = this.#writeFile(chunks);
    return this.#putFiles(key, [file]);
  }

  async #putFiles(key: string, files: { name: string; size: number; etag: string }[]) {
    const committed = this.#write();
    const old = this.#find(key);
    const size = files.reduce((sum, file) => sum + file.size, 0);
    const etag = files[0]?.etag ?? "";
    const segments = JSON.stringify(files.map(({ name }) => name));
    this.#insert(key, { size, etag }, { body: null, segments });
    if (old !== undefined) this.#release(old);
    await committed;
    return { key, size, etag };
  }

  #writeFile(chunks: Iterable<Uint8Array>): { name: string; size: number; etag: string } {
    const name = randomBytes(16).toString("hex");
    const hash = createHash("md5");
    const file = openSync(join(this.#folder, name), "wx");
    let size = 0;
    for (const chunk of chunks) {
      hash.update(chunk);
      for (let sent = 0; sent < chunk.length;) sent += writeSync(file, chunk, sent);
      size += chunk.length;
    }
    closeSync(file);
    return { name, size, etag: hash.digest("hex") };
  }

  async head(key: string): Promise<Stored | null> {
    const row = this.#find(key);
    return row === undefined ? null : { key, ...fieldsOf(row) };
  }

  async get(
    key: string,
    options?: { range: { offset: number; length: number } },
  ): Promise<FloorObject | null> {
    const row = this.#find(key);
    if (row === undefined) return null;
    const { size, etag } = fieldsOf(row);
    const { body, segments } = row;
    const { offset, length } = options?.range ?? { offset: 0, length: size };
    const names = JSON.parse(segments ?? "[]") as string[];
    const files = names.map((name) => join(this.#folder, name));
    return {
      key,
      size,
      etag,
      files,
      arrayBuffer: async () => {
        if (body === null) return readFiles(files, { size, offset, length });
        const { bytes } = this.#sql("SELECT bytes FROM bodies WHERE id = ?").get(body) as {
          bytes: Uint8Array<ArrayBuffer>;
        };
        return bytes.buffer.slice(bytes.byteOffset + offset, bytes.byteOffset + offset + length);
      },
    };
  }

  async delete(keys: string | string[]): Promise<void> {
    const committed = this.#write();
    const rows = this.#sql(
      "DELETE FROM objects WHERE key IN (SELECT value FROM json_each(?)) RETURNING fields, body, segments",
    ).all(JSON.stringify([keys].flat())) as unknown as Row[];
    for (const row of rows) this.#release(row);
    await committed;
  }

  async list({ prefix = "", delimiter, limit = 1000, include }: ListOptions): Promise<Page> {
    const end = `${prefix}\u{10ffff}`;
    if (delimiter !== undefined) return this.#listPrefixes({ delimiter, limit, end });
    const metadata = include === undefined ? "" : ", metadata";
    const rows = this.#sql(
      `SELECT key, fields${metadata} FROM objects WHERE key >= ? AND key < ? ORDER BY key LIMIT ?`,
    ).all(prefix, end, limit) as unknown as (Row & { key: string })[];
    const objects = rows.map((row) => ({ key: row.key, ...fieldsOf(row) }));
    return { objects, delimitedPrefixes: [] };
  }

  /** Seeks from each prefix to the next. Every key of the benchmark contains the delimiter. */
  #listPrefixes(options: { delimiter: string; limit: number; end: string }): Page {
    const delimitedPrefixes: string[] = [];
    for (let from = ""; delimitedPrefixes.length < options.limit;) {
      const row = this.#sql(
        "SELECT key FROM objects WHERE key >= ? AND key < ? ORDER BY key LIMIT 1",
      ).get(from, options.end) as { key: string } | undefined;
      if (row === undefined) break;
      const found = row.key.slice(0, row.key.indexOf(options.delimiter) + 1);
      delimitedPrefixes.push(found);
      from = `${found}\u{10ffff}`;
    }
    return { objects: [], delimitedPrefixes };
  }

  async createMultipartUpload(
    key: string,
  ): Promise<Upload<{ name: string; size: number; etag: string }>> {
    return {
      uploadPart: async (_partNumber, value) => this.#writeFile([value]),
      complete: (parts) => this.#putFiles(key, parts),
    };
  }
}

interface FloorObject extends StoredBody {
  readonly files: readonly string[];
}

/** Reads a range within one file. All files of an object have the same size. */
function readFiles(
  files: readonly string[],
  { size, offset, length }: { size: number; offset: number; length: number },
): ArrayBuffer {
  const fileBytes = size / files.length;
  const start = Math.floor(offset / fileBytes);
  const file = openSync(files[start] as string, "r");
  const buffer = new Uint8Array(length);
  for (let read = 0; read < length;) {
    read += readSync(file, buffer, read, length - read, offset - start * fileBytes + read);
  }
  closeSync(file);
  return buffer.buffer;
}

export const floorStreams: Streams = {
  put: (bucket, key, _size, chunks) => (bucket as FloorBucket).putChunks(key, chunks),
  async drain(object, readBytes) {
    const buffer = new Uint8Array(readBytes);
    let size = 0;
    for (const path of (object as FloorObject).files) {
      const file = openSync(path, "r");
      for (let read; (read = readSync(file, buffer)) > 0;) size += read;
      closeSync(file);
    }
    return size;
  },
};
