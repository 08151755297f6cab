/**
 * The plugins in the configurations of vitest and Vite: `ledge()` takes the place and the options of a
 * plugin of the platform. These files are code, so the edit is one of text and refuses what it does
 * not know.
 */
import { linesIf } from "../../base/format.ts";
import { lineEnd, type Note } from "./edits.ts";

interface Replacement {
  /** The package of the plugin, as a pattern. */
  readonly packageName: string;
  readonly plugin: string;
  readonly module: string;
  /** The name of `ledge()` in a file that has the other `ledge()` too. */
  readonly alias: string;
  readonly page: string;
}

const vitestPlugin: Replacement = {
  packageName: "@cloudflare/vitest-(?:plugin|pool-workers)",
  plugin: "cloudflareTest",
  module: "ledge/vitest",
  alias: "ledgeTest",
  page: "docs/testing.md",
};

const vitePlugin: Replacement = {
  packageName: "@cloudflare/vite-plugin",
  plugin: "cloudflare",
  module: "ledge/vite",
  alias: "ledgeVite",
  page: "docs/vite.md",
};

export function editVitestConfig(text: string, note: Note): string {
  const names = Array.from(importsOf(text, vitestPlugin), (each) => each.names).join();
  const old = /\bdefineWorkers(?:Config|Project)\b/.exec(names);
  if (old !== null) {
    note(
      `${old[0]} belongs to the pool of vitest 3: run "npx @cloudflare/codemods vitest:v3-to-v4", and ` +
        '"ledge init" again.',
    );
    return text;
  }
  if (/\bcloudflarePool\b/.test(names) && !hasString(text, vitestPlugin.module)) {
    note(`it makes the pool with cloudflarePool(): ${byHand(vitestPlugin)}`);
  }
  return replacePlugin(text, vitestPlugin, note);
}

/** Whether a configuration runs tests in the pool, without Ledge. */
export function usesPlatformVitest(text: string): boolean {
  let isNoted = false;
  const after = editVitestConfig(text, () => (isNoted = true));
  return isNoted || after !== text;
}

export function editViteConfig(text: string, note: Note): string {
  return replacePlugin(text, vitePlugin, note);
}

/** Whether a configuration runs tests in `ledge/vitest`, or Vite with `ledge/vite`. */
export function usesPlugin(text: string, tool: "vite" | "vitest"): boolean {
  return hasString(text, `ledge/${tool}`);
}

/** Whether a configuration runs the Vite plugin of the platform, without the store. */
export function usesPlatformVite(text: string): boolean {
  return hasString(text, vitePlugin.packageName) && !usesPlugin(text, "vite");
}

/** The configuration files of wrangler that the options of a plugin name. */
export function namedConfigurations(text: string): string[] {
  const paths = text.matchAll(/\bconfigPath:\s*(["'`])([^"'`$]+)\1/g);
  return Array.from(paths, ([, , path]) => path as string);
}

function replacePlugin(text: string, replacement: Replacement, note: Note): string {
  const { packageName, plugin, module, alias } = replacement;
  if (hasString(text, module)) return text;
  const all = importsOf(text, replacement);
  const found = all.find(({ names }) => new RegExp(`\\b${plugin}\\b`).test(names)) ?? all[0];
  if (found === undefined) {
    if (loadsPackage(text, packageName)) {
      note(`its import of the plugin is not a list of names: ${byHand(replacement)}`);
    }
    return text;
  }
  const names = found.names.split(",").map((name) => name.trim());
  const imported = names.find((name) => name === plugin || name.startsWith(`${plugin} as `));
  if (imported === undefined) return text;
  const call = new RegExp(`(?<![\\w$.])${plugin}(?=\\s*\\()`, "g");
  if (imported !== plugin || !call.test(text)) {
    note(`it does not call ${plugin}() by this name: ${byHand(replacement)}`);
    return text;
  }
  const { statement, quote } = found;
  const others = names.filter((name) => name !== plugin && name !== "");
  const end = statement.endsWith(";") ? ";" : "";
  const name = /\bimport\s*\{[^}]*\bledge\b[^}]*\}/.test(text) ? alias : "ledge";
  const own = name === "ledge" ? name : `ledge as ${name}`;
  const imports = [
    ...linesIf(
      others.length > 0,
      `import { ${others.join(", ")} } from ${quote}${found.packageName}${quote}${end}`,
    ),
    `import { ${own} } from ${quote}${module}${quote}${end}`,
  ];
  return text.replace(statement, imports.join(lineEnd(text))).replace(call, name);
}

/** The imports of names from the package. */
function importsOf(text: string, { packageName }: Replacement) {
  const pattern = `import\\s*\\{([^}]*)\\}\\s*from\\s*(["'])(${packageName})(?:/config)?\\2;?`;
  const found = text.matchAll(new RegExp(pattern, "g"));
  return Array.from(found, ([statement, names = "", quote = "", name = ""]) => ({
    statement,
    names,
    quote,
    packageName: name,
  }));
}

/** Whether the file loads the package in another way, and not only its types. */
function loadsPackage(text: string, packageName: string): boolean {
  const code = text.replace(/\bimport\s+type\b[^"']*["'][^"']*["']/g, "");
  return new RegExp(`(?:\\bfrom|\\b(?:import|require)\\s*\\()\\s*["']${packageName}`).test(code);
}

function hasString(text: string, pattern: string): boolean {
  return new RegExp(`["']${pattern}["']`).test(text);
}

function byHand({ module, page }: Replacement): string {
  return `use the plugin ledge() from "${module}" by hand (${page}).`;
}
