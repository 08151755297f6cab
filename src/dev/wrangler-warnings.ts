/**
 * wrangler's warnings about a configuration file, without warnings about the keys of Ledge.
 *
 * wrangler warns of every key that it does not know, and its only option is to warn of nothing. So
 * wrangler reads the file without warnings, and reads a copy without the keys of Ledge, for the
 * warnings alone.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { loadWrangler } from "../base/wrangler.ts";
import { shownPath } from "../config/config-file.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { isTable, type Table } from "../base/schema.ts";

export function wranglerWarnings({ path, source, environment }: ProjectConfig): string[] {
  if (path === null) return [];
  const folder = mkdtempSync(join(tmpdir(), "ledge-"));
  const copy = join(folder, "wrangler.json");
  try {
    writeFileSync(copy, JSON.stringify(withoutLedgeKeys(source)));
    const options = { config: copy, ...(environment !== undefined && { env: environment }) };
    const warnings = collectWarnings(() => loadWrangler().unstable_readConfig(options));
    return warnings.map((text) =>
      text.replaceAll(relative(process.cwd(), copy), shownPath(path)).replaceAll(copy, path),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function withoutLedgeKeys({ store_buckets: _buckets, dns: _dns, env, ...rest }: Table): Table {
  if (!isTable(env)) return { ...rest, env };
  const environments = Object.entries(env).map(([name, own]) => [
    name,
    isTable(own) ? withoutLedgeKeys(own) : own,
  ]);
  return { ...rest, env: Object.fromEntries(environments) as Table };
}

/** Returns the warnings that `act`, a synchronous function, writes to the console. */
function collectWarnings(act: () => unknown): string[] {
  const warnings: string[] = [];
  const { warn } = console;
  console.warn = (...values: unknown[]) => void warnings.push(values.join(" ").trim());
  try {
    act();
  } catch {
    // wrangler throws the same error when it reads the original.
  } finally {
    console.warn = warn;
  }
  return warnings;
}
