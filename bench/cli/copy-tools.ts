/** The programs that the benchmark compares. Another client of the store is one more entry. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface CopyTool {
  readonly name: string;
  /** Lists a store without objects: the time that every command takes. */
  start(): void;
  /** A file into the store. */
  put(file: string): void;
  /** The same file out of the store. */
  get(file: string): void;
  /** All files of a folder into the store. */
  import(folder: string): void;
  /** The same files out of the store, into a new folder. */
  export(folder: string): void;
  /** Removes what `import` has stored, outside of the measured time. */
  forget(): void;
  /** Ends what the tool has started. */
  end?(): void;
}

export const program = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** `ledge store`, without a dev server: each command starts a runtime of its own. */
export function ledgeTool(folder: string): CopyTool {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "wrangler.json"), JSON.stringify(configurationOf(["file", "files"])));
  const store = (...words: string[]): void => run(process.execPath, [program, "store", ...words]);
  const run = (file: string, words: string[]): void =>
    void execFileSync(file, words, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  return {
    name: "ledge",
    start: () => store("list", "files"),
    put: (file) => store("put", "file/content", file),
    get: (file) => store("get", "file/content", file),
    import: (files) => store("import", "files", files),
    export: (files) => store("export", "files", files),
    forget: () => store("reset", "files", "--yes"),
  };
}

export function configurationOf(bucketNames: readonly string[]): object {
  const buckets = bucketNames.map((name) => ({ binding: name, bucket_name: name }));
  return { name: "bench", store_buckets: buckets };
}

/** @param verified reads every copy again and hashes it with md5, as the store does */
export function cpTool(folder: string, { verified }: { verified: boolean }): CopyTool {
  mkdirSync(folder, { recursive: true });
  const [storedFile, storedFolder] = [join(folder, "content"), join(folder, "files")];
  const hash = verified ? '; find "$2" -type f -exec md5sum {} +' : "";
  const copy = (from: string, to: string): void => shell(`cp -r "$1" "$2"${hash}`, from, to);
  return {
    name: verified ? "cp, md5sum" : "cp",
    start: () => shell('ls "$1"', folder),
    put: (file) => copy(file, storedFile),
    get: (file) => copy(storedFile, file),
    import: (files) => copy(files, storedFolder),
    export: (files) => copy(storedFolder, files),
    forget: () => {
      if (existsSync(storedFolder)) rmSync(storedFolder, { recursive: true });
    },
  };
}

function shell(script: string, ...words: string[]): void {
  execFileSync("sh", ["-ec", script, "sh", ...words], { stdio: "ignore" });
}
