/** `StateFiles` on real databases: a connection of this process stands for an object of the runtime. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { serveState, StateFiles } from "./state-files.ts";

const kinds = [
  { name: "kv", hasObjects: false },
  { name: "do", hasObjects: true },
];

/** A runtime whose objects are connections to databases. */
class Runtime {
  readonly path = mkdtempSync(join(tmpdir(), "ledge-state-"));
  readonly files = new StateFiles(this.path, kinds);
  readonly #objects = new Map<string, DatabaseSync>();
  aborts = 0;

  constructor() {
    for (const folder of ["kv/objects", "kv/a/blobs", "do/objects"]) {
      mkdirSync(join(this.path, folder), { recursive: true });
    }
  }

  /** The object of a name: opened if it is not alive. */
  object(name: string): DatabaseSync {
    const alive = this.#objects.get(name);
    if (alive !== undefined) return alive;
    const database = new DatabaseSync(this.databasePath(name));
    this.#objects.set(name, database);
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS t (value)");
    return database;
  }

  databasePath(name: string): string {
    return join(this.path, `${name.replace("/", "/objects/")}.sqlite`);
  }

  write(name: string, value: string | number): void {
    this.object(name).prepare("INSERT INTO t VALUES (?)").run(value);
  }

  values(name: string): unknown[] {
    return this.object(name)
      .prepare("SELECT value FROM t ORDER BY rowid")
      .all()
      .map(({ value }) => value);
  }

  abort(): void {
    this.aborts++;
    for (const database of this.#objects.values()) database.close();
    this.#objects.clear();
  }

  open(layer: number): void {
    if (this.files.open(layer)) this.#finish();
  }

  close(layer: number, next?: number): void {
    if (this.files.close(layer, next)) this.#finish();
  }

  #finish(): void {
    do this.abort();
    while (this.files.finish());
  }

  remove(): void {
    this.abort();
    rmSync(this.path, { recursive: true });
  }
}

let runtime: Runtime;

beforeEach(() => {
  runtime = new Runtime();
});

afterEach(() => runtime.remove());

describe("StateFiles", () => {
  it("undoes writes, again and again, and keeps what was there", () => {
    runtime.write("kv/a", "seed");
    runtime.open(1);
    for (let layer = 1; layer < 5; layer++) {
      expect(runtime.values("kv/a")).toEqual(["seed"]);
      runtime.write("kv/a", `of layer ${layer}`);
      runtime.close(layer, layer + 1);
    }
    expect(runtime.values("kv/a")).toEqual(["seed"]);
  });

  it("aborts nothing when nothing has changed", () => {
    runtime.write("kv/a", "seed");
    runtime.open(1);
    expect(runtime.values("kv/a")).toEqual(["seed"]);
    runtime.close(1, 2);
    runtime.close(2);
    expect(runtime.aborts).toBe(0);
  });

  it("aborts objects that are alive, also when they have written nothing", () => {
    runtime.write("do/a", "seed");
    runtime.open(1);
    expect(runtime.aborts).toBe(1);
    runtime.close(1, 2);
    expect(runtime.aborts).toBe(1);
    expect(runtime.values("do/a")).toEqual(["seed"]);
    runtime.close(2, 3);
    expect(runtime.aborts).toBe(2);
    expect(runtime.values("do/a")).toEqual(["seed"]);
  });

  it("undoes the layers above, and nests", () => {
    runtime.open(1);
    runtime.write("kv/a", "of 1");
    runtime.open(2);
    runtime.write("kv/a", "of 2");
    runtime.open(3);
    runtime.write("kv/a", "of 3");
    runtime.close(3);
    expect(runtime.values("kv/a")).toEqual(["of 1", "of 2"]);
    runtime.open(4);
    runtime.write("kv/a", "of 4");
    runtime.close(2, 5);
    expect(runtime.values("kv/a")).toEqual(["of 1"]);
    runtime.close(1);
    expect(existsSync(runtime.databasePath("kv/a"))).toBe(false);
  });

  it("does not copy a large database, and the file stays the same", () => {
    runtime.object("kv/a").exec("INSERT INTO t SELECT zeroblob(8000000)");
    runtime.object("kv/a").exec("PRAGMA wal_checkpoint(TRUNCATE)");
    runtime.open(1);
    const { ino, mtimeMs } = statSync(runtime.databasePath("kv/a"));
    runtime.write("kv/a", "more");
    runtime.close(1, 2);
    expect(statSync(runtime.databasePath("kv/a"))).toMatchObject({ ino, mtimeMs });
    expect(runtime.values("kv/a")).toHaveLength(1);
  });

  it("restores a database file into which SQLite has moved the log", () => {
    runtime.write("kv/a", "seed");
    runtime.open(1);
    runtime.object("kv/a").exec("INSERT INTO t SELECT zeroblob(8000000)");
    runtime.object("kv/a").exec("PRAGMA wal_checkpoint(TRUNCATE)");
    runtime.write("kv/a", "more");
    runtime.close(1, 2);
    expect(runtime.values("kv/a")).toEqual(["seed"]);
    runtime.write("kv/a", "again");
    runtime.close(2, 3);
    expect(runtime.values("kv/a")).toEqual(["seed"]);
  });

  it("restores a database that was closed and moved by itself", () => {
    runtime.write("kv/a", "seed");
    runtime.open(1);
    runtime.write("kv/a", "more");
    runtime.abort();
    runtime.close(1, 2);
    expect(runtime.values("kv/a")).toEqual(["seed"]);
  });

  it("restores a database that was removed, and removes a new one", () => {
    runtime.write("do/a", "seed");
    runtime.open(1);
    runtime.abort();
    rmSync(runtime.databasePath("do/a"));
    runtime.write("do/b", "new");
    runtime.close(1, 2);
    expect(runtime.values("do/a")).toEqual(["seed"]);
    expect(existsSync(runtime.databasePath("do/b"))).toBe(false);
  });

  it("restores values in files", () => {
    const blob = (name: string) => join(runtime.path, "kv/a/blobs", name);
    writeFileSync(blob("seed"), "seed");
    runtime.write("kv/a", "seed");
    runtime.open(1);
    rmSync(blob("seed"));
    writeFileSync(blob("new"), "new");
    runtime.write("kv/a", "new");
    runtime.close(1, 2);
    expect(readdirSync(join(runtime.path, "kv/a/blobs"))).toEqual(["seed"]);
  });

  it("overwrites what a transaction that was rolled back has left in the log", () => {
    runtime.write("kv/a", "seed");
    const database = runtime.object("kv/a");
    // A small cache: SQLite writes pages to the log before the end of the transaction.
    database.exec("PRAGMA cache_size = 1; BEGIN");
    for (let count = 0; count < 200; count++) runtime.write("kv/a", "x".repeat(3000));
    database.exec("ROLLBACK");
    runtime.open(1);
    runtime.write("kv/a", "more");
    runtime.close(1, 2);
    expect(runtime.values("kv/a")).toEqual(["seed"]);
  });

  it("aborts again when an object has begun anew meanwhile", () => {
    runtime.write("kv/a", "seed");
    runtime.open(1);
    runtime.write("kv/a", "more");
    expect(runtime.files.close(1, 2)).toBe(true);
    runtime.abort();
    runtime.write("kv/a", "late");
    expect(runtime.files.finish()).toBe(true);
    runtime.abort();
    expect(runtime.files.finish()).toBe(false);
    expect(runtime.values("kv/a")).toEqual(["seed"]);
  });

  it("aborts an object again that a late call has made, and removes its database", () => {
    runtime.open(1);
    runtime.write("kv/a", "of the test");
    expect(runtime.files.close(1, 2)).toBe(true);
    runtime.abort();
    runtime.write("do/late", "late");
    expect(runtime.files.finish()).toBe(true);
    runtime.abort();
    expect(runtime.files.finish()).toBe(false);
    expect(existsSync(runtime.databasePath("do/late"))).toBe(false);
  });

  it("does not wait for a script that calls for ever", () => {
    runtime.open(1);
    runtime.write("kv/a", "of the test");
    let mustAbort = runtime.files.close(1, 2);
    for (let count = 0; mustAbort && count < 100; count++) {
      runtime.abort();
      runtime.write("kv/b", "again");
      mustAbort = runtime.files.finish();
    }
    expect(mustAbort).toBe(false);
  });

  it("keeps no copies that no layer needs", () => {
    runtime.write("kv/a", "seed");
    runtime.open(1);
    runtime.write("kv/a", "more");
    runtime.open(2);
    const copies = () => readdirSync(join(runtime.path, "ledge-saved")).length;
    const before = copies();
    runtime.close(2);
    expect(copies()).toBeLessThan(before);
    runtime.close(1);
    expect(copies()).toBe(0);
  });
});

interface Answer {
  readonly status: number | undefined;
  readonly keepAlive: string | readonly string[] | undefined;
  readonly text: string;
}

async function startServer(): Promise<(path: string) => Promise<Answer>> {
  const folder = mkdtempSync(join(tmpdir(), "ledge-state-"));
  const server = await serveState(folder, new StateFiles(folder, []));
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  return (path) =>
    new Promise((resolve, reject) => {
      const sent = request({ socketPath: server.path, method: "POST", path }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () => {
          const { statusCode: status, headers } = response;
          resolve({ status, keepAlive: headers["keep-alive"], text });
        });
      });
      sent.on("error", reject).end();
    });
}

it("answers whether objects must be aborted", async () => {
  const post = await startServer();
  expect(await post("/open?layer=1")).toMatchObject({ status: 200, text: "false" });
  expect(await post("/close?layer=1&next=2")).toMatchObject({ status: 200, text: "false" });
});

it("says why a step has failed", async () => {
  const post = await startServer();
  expect(await post("/finish")).toMatchObject({
    status: 500,
    text: "No step has begun that could be finished.",
  });
  expect(await post("/other")).toMatchObject({ status: 500, text: "Unknown path /other" });
});

it("does not end a connection that is idle: the runtime would lose the next request", async () => {
  const post = await startServer();
  expect(await post("/open?layer=1")).toMatchObject({ keepAlive: undefined });
});
