/**
 * The vitest configuration of an existing project: `ledge()` in place of the plugin of the pool, whose
 * options it takes. The file is code, so the edit is one of text and refuses what it does not know.
 */
import type { EditedText } from "./edit.ts";

const importPattern =
  /import\s*\{([^}]*)\}\s*from\s*(["'])(@cloudflare\/vitest-(?:plugin|pool-workers))(?:\/config)?\2;?/;
const manual = 'use the plugin ledge() from "ledge/vitest" by hand (docs/testing.md).';

export function editVitestConfig(text: string): EditedText {
  if (text.includes("ledge/vitest")) return { text, notes: [] };
  const [statement, names = "", quote = '"', packageName = ""] = importPattern.exec(text) ?? [];
  if (statement === undefined) {
    const isKnown = /@cloudflare\/vitest-(?:plugin|pool-workers)/.test(text);
    return {
      text,
      notes: isKnown ? [`its import of the pool is not a list of names: ${manual}`] : [],
    };
  }
  const imported = names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const old = imported.find((name) => /^defineWorkers(?:Config|Project)\b/.test(name));
  if (old !== undefined) {
    return { text, notes: [`${old} belongs to an old pool: update the pool, and ${manual}`] };
  }
  if (!imported.includes("cloudflareTest")) return { text, notes: [] };
  const others = imported.filter((name) => name !== "cloudflareTest");
  const end = statement.endsWith(";") ? ";" : "";
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const imports = [
    ...(others.length === 0
      ? []
      : [`import { ${others.join(", ")} } from ${quote}${packageName}${quote}${end}`]),
    `import { ledge } from ${quote}ledge/vitest${quote}${end}`,
  ].join(eol);
  return {
    text: text.replace(statement, imports).replace(/\bcloudflareTest\b(?=\s*\()/g, "ledge"),
    notes: [],
  };
}
