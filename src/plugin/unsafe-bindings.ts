/** The bindings of a script that name one of our plugins. */
import type { ParsedWorkerOptions } from "miniflare";
import { UserError } from "../base/user-error.ts";

export interface UnsafeBinding<Kind extends string> {
  readonly name: string;
  readonly kind: Kind;
  readonly options: unknown;
}

/**
 * @param kinds what each type of binding, as the configuration writes it, is to the plugin
 * @throws UserError for a type that the plugin does not know
 */
export function unsafeBindings<Kind extends string>(
  { config }: ParsedWorkerOptions,
  plugin: string,
  kinds: Readonly<Record<string, Kind>>,
): UnsafeBinding<Kind>[] {
  const bindings: UnsafeBinding<Kind>[] = [];
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
