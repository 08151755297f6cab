/** The bindings of a script that one of our plugins serves. */
import type { ParsedWorkerOptions } from "miniflare";
import { UserError } from "../base/user-error.ts";

export interface PluginBinding<Kind extends string> {
  readonly name: string;
  readonly kind: Kind;
  readonly options: unknown;
}

/**
 * @param kinds the kind of binding for each type in the configuration
 * @throws UserError for a type that the plugin does not serve
 */
export function pluginBindings<Kind extends string>(
  { config }: ParsedWorkerOptions,
  plugin: string,
  kinds: Readonly<Record<string, Kind>>,
): PluginBinding<Kind>[] {
  const bindings: PluginBinding<Kind>[] = [];
  for (const [name, binding] of Object.entries(config.env ?? {})) {
    const { type, dev } = binding as {
      type: string;
      dev?: { plugin?: { name?: string }; options?: unknown };
    };
    if (dev?.plugin?.name !== plugin) continue;
    const kind = kinds[type];
    if (kind === undefined) {
      const known = Object.keys(kinds).map((each) => `"${each}"`);
      throw new UserError(
        `Binding "${name}" has the type "${type}", which the plugin "${plugin}" does not know. ` +
          `Use ${known.join(" or ")}.`,
      );
    }
    bindings.push({ name, kind, options: dev.options });
  }
  return bindings;
}
