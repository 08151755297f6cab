/** Which tool has made a configuration of Vite. */
import type { UserConfig } from "vite";

/** Whether vitest has made it: then vitest's own plugins are in it. */
export function isOfVitest({ plugins = [] }: Pick<UserConfig, "plugins">): boolean {
  const all = (plugins as unknown[]).flat(Infinity) as { readonly name?: string }[];
  return all.some((plugin) => /^vitest(?::|$)/.test(plugin?.name ?? ""));
}
