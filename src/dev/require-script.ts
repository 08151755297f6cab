/** Says in a sentence that a project has no script to run. wrangler's hint names options of its own. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Unstable_Config as WranglerConfig } from "wrangler";
import { NotFoundError, UserError } from "../base/user-error.ts";
import { shownPath } from "../config/config-file.ts";
import type { ProjectConfig } from "../config/read-config.ts";

type ScriptConfig = Pick<WranglerConfig, "main" | "assets" | "site" | "build">;

/**
 * @param script the script of the command line
 * @throws UserError when there is neither a script nor a folder of assets
 * @throws NotFoundError when the file of the script does not exist
 */
export function requireScript(
  { path, folder }: Pick<ProjectConfig, "path" | "folder">,
  { main, assets, site, build }: ScriptConfig,
  script?: string,
): void {
  const file = script === undefined ? main : resolve(script);
  if (file === undefined) {
    if (assets !== undefined || site !== undefined) return;
    throw new UserError(path === null ? withoutFile(folder) : withoutMain(shownPath(path)));
  }
  // A build command of the project may write the file.
  if (existsSync(file) || build.command !== undefined) return;
  const origin = script === undefined && path !== null ? `, the main of ${shownPath(path)}` : "";
  throw new NotFoundError(
    `There is no file ${shownPath(file)}${origin}. If a build writes the file, run the build first.`,
  );
}

function withoutFile(folder: string): string {
  return (
    `There is no script to run: ${folder} and the folders above have no wrangler.jsonc, ` +
    "wrangler.json or wrangler.toml. Name a script (ledge dev src/index.ts), or make a project " +
    "(ledge init)."
  );
}

function withoutMain(file: string): string {
  return (
    `${file} names no script: add main, such as "main": "src/index.ts", or name a script on the ` +
    'command line (ledge dev src/index.ts). For static files alone, add "assets": { "directory": ' +
    '"./dist" }.'
  );
}
