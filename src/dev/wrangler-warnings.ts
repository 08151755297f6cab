/**
 * What wrangler has to say of a configuration file, without what it does not know of ours.
 *
 * wrangler warns of every key that is not its own, and can only be told to warn of nothing. So it
 * reads the file in silence, and once more a copy that leaves our keys out, for the warnings
 * alone.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { unstable_readConfig } from "wrangler";
import { shownPath } from "../config/config-file.ts";
import type { ProjectConfig } from "../config/read-config.ts";
import { isTable, type Table } from "../config/schema.ts";

export function wranglerWarnings(
  { path, source, environment }: ProjectConfig,
  read: typeof unstable_readConfig,
): string[] {
  if (path === null) return [];
  const folder = mkdtempSync(join(tmpdir(), "ledge-"));
  const copy = join(folder, "wrangler.json");
  try {
    writeFileSync(copy, JSON.stringify(withoutOurs(source)));
    const warnings = listen(() =>
      read({ config: copy, ...(environment !== undefined && { env: environment }) }),
    );
    return warnings.map((text) =>
      text.replaceAll(relative(process.cwd(), copy), shownPath(path)).replaceAll(copy, path),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function withoutOurs({ store_buckets: _buckets, dns: _dns, env, ...rest }: Table): Table {
  if (!isTable(env)) return { ...rest, ...(env !== undefined && { env }) };
  const environments = Object.entries(env).map(([name, own]) => [
    name,
    isTable(own) ? withoutOurs(own) : own,
  ]);
  return { ...rest, env: Object.fromEntries(environments) as Table };
}

/** What is said on the console while `act` runs, which must not be asynchronous. */
function listen(act: () => unknown): string[] {
  const heard: string[] = [];
  const { warn } = console;
  console.warn = (...said: unknown[]) => void heard.push(said.join(" ").trim());
  try {
    act();
  } catch {
    // A mistake is told by whoever reads the file itself.
  } finally {
    console.warn = warn;
  }
  return heard;
}
