/**
 * A script as wrangler would upload it: its modules with their types, its bindings and its compatibility.
 *
 * `wrangler deploy --dry-run --outfile` writes the body of the upload, a form: the part `metadata` has
 * the bindings, and each other part is a module whose media type says how the runtime loads it.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { UserError } from "../base/user-error.ts";
import { wranglerProgram } from "../base/wrangler.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { toWranglerTable, withTemporaryConfig } from "../config/wrangler-config.ts";

/** How workerd loads a module: the field of a module in its configuration. */
type ModuleType = "esModule" | "commonJsModule" | "text" | "data" | "wasm" | "json";

export interface ScriptModule {
  /** By which other modules import it. */
  readonly name: string;
  readonly type: ModuleType;
  readonly content: Uint8Array;
}

/** A binding in the form of the upload. The fields depend on the type. */
export interface UploadedBinding {
  readonly name: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface ScriptBundle {
  /** The main module is the first. */
  readonly modules: readonly ScriptModule[];
  readonly bindings: readonly UploadedBinding[];
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
}

interface Metadata {
  readonly main_module?: string;
  readonly bindings?: readonly UploadedBinding[];
  readonly compatibility_date?: string;
  readonly compatibility_flags?: readonly string[];
}

const moduleTypes: Readonly<Record<string, ModuleType>> = {
  "application/javascript+module": "esModule",
  "application/javascript": "commonJsModule",
  "text/plain": "text",
  "application/octet-stream": "data",
  "application/wasm": "wasm",
  "application/json": "json",
};

/** Source maps are for the platform, which workerd does not give them to. */
const sourceMapType = "application/source-map";

/** @throws UserError for a script that workerd cannot load from a configuration */
export async function parseBundle(form: Uint8Array): Promise<ScriptBundle> {
  const { metadata, parts } = await readForm(form);
  const main = metadata.main_module;
  if (main === undefined) {
    throw new UserError(
      "The script has the service worker format: write it as a module, export default { fetch }.",
    );
  }
  const modules = await Promise.all(
    parts
      .filter(({ file }) => mediaType(file) !== sourceMapType)
      .map(async ({ name, file }) => ({
        name: moduleName(name),
        type: moduleType(name, file),
        content: new Uint8Array(await file.arrayBuffer()),
      })),
  );
  const isMain = ({ name }: ScriptModule): boolean => name === moduleName(main);
  return {
    modules: [...modules.filter(isMain), ...modules.filter((module) => !isMain(module))],
    bindings: metadata.bindings ?? [],
    compatibilityDate: metadata.compatibility_date as string,
    compatibilityFlags: metadata.compatibility_flags ?? [],
  };
}

async function readForm(bytes: Uint8Array): Promise<{
  readonly metadata: Metadata;
  readonly parts: readonly { readonly name: string; readonly file: File }[];
}> {
  // The file has no header, and the first line of a form is its boundary.
  const end = bytes.indexOf(0x0d);
  const boundary = new TextDecoder().decode(bytes.subarray(2, end));
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const form = await new Response(bytes as Uint8Array<ArrayBuffer>, { headers }).formData();
  const parts = Array.from(form, ([name, file]) => ({ name, file })).filter(
    (part): part is { name: string; file: File } => typeof part.file !== "string",
  );
  return { metadata: JSON.parse(form.get("metadata") as string) as Metadata, parts };
}

function moduleName(name: string): string {
  return name.replace(/^\.\//, "");
}

function moduleType(name: string, file: File): ModuleType {
  const type = moduleTypes[mediaType(file)];
  if (type !== undefined) return type;
  throw new UserError(
    `The module "${name}" has the type ${file.type}, which ledge build does not know. Modules are ` +
      "JavaScript, text, data, JSON or WebAssembly.",
  );
}

function mediaType({ type }: File): string {
  return type.replace(/;.*/, "");
}

/** The upload needs a name, which no file of the build contains. */
const nameDefault = "script";

export async function bundleScript(config: ProjectConfig): Promise<ScriptBundle> {
  const table = { name: nameDefault, ...toWranglerTable(config, []) };
  const folder = mkdtempSync(join(tmpdir(), "ledge-build-"));
  const outfile = join(folder, "upload");
  try {
    await withTemporaryConfig(config, table, (configPath) =>
      runWrangler(config, [
        "deploy",
        "--dry-run",
        "--outfile",
        outfile,
        "--config",
        configPath,
        ...(config.environment === undefined ? [] : ["--env", config.environment]),
      ]),
    );
    return await parseBundle(readFileSync(outfile));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runWrangler({ folder }: ProjectConfig, words: readonly string[]): Promise<void> {
  const options = {
    cwd: folder,
    env: { ...process.env, WRANGLER_SEND_METRICS: "false", CI: "true" },
    maxBuffer: Infinity,
  };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [wranglerProgram(), ...words], options, (error, out, errors) => {
      if (error === null) return resolve();
      reject(new UserError(`wrangler cannot bundle the script.\n${reasonOf(errors + out)}`));
    });
  });
}

/** What wrangler has printed, without its banner and the place of its log. */
function reasonOf(output: string): string {
  return stripVTControlCharacters(output)
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => !/^(?: ⛅️ |─|🪵|$)/u.test(line))
    .join("\n");
}
