/** The project of docs/stock-tools.md: code blocks whose first line is a file name. */
import { readFileSync } from "node:fs";

const page = new URL("../../../docs/stock-tools.md", import.meta.url);

export interface DocumentedProject {
  readonly "wrangler.jsonc": string;
  readonly "src/index.ts": string;
  readonly "vite.config.ts": string;
}

/** The one change is the inspector's port: all tools use 9229, and another process may have it. */
export function documentedProject(): DocumentedProject {
  const fences = readFileSync(page, "utf8").matchAll(/^```\w+\n\/\/ (\S+)\n([^]*?)^```$/gm);
  const files = Object.fromEntries(Array.from(fences, ([, name, text]) => [name, text as string]));
  const names = Object.keys(files).join();
  if (names !== "wrangler.jsonc,src/index.ts,vite.config.ts") {
    throw new Error(`docs/stock-tools.md has other files than the tests expect: ${names}`);
  }
  const project = files as unknown as DocumentedProject;
  const viteConfig = project["vite.config.ts"];
  const changed = viteConfig.replace("cloudflare()", "cloudflare({ inspectorPort: false })");
  if (changed === viteConfig)
    throw new Error("vite.config.ts of the page does not call cloudflare()");
  return { ...project, "vite.config.ts": changed };
}
