/** Bundles the script of a project, by the project's wrangler. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { wranglerProgram } from "../base/wrangler.ts";
import { UserError } from "../base/user-error.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { withTemporaryConfig, toWranglerTable } from "../config/wrangler-config.ts";
import { parseBundle, type ScriptBundle } from "./script-bundle.ts";

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
