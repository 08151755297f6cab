/** The bindings of a script that one of our plugins serves, and the modules that make them. */
import type { ParsedWorkerOptions, Worker_Module } from "miniflare";
import { workerdModule } from "../../base/runtime.ts";
import { UserError } from "../../base/user-error.ts";

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

/** A module in the isolate of the script, which makes a binding. */
type BindingModule = "store-binding" | "store-remote-binding";

export function bindingModuleName(module: BindingModule, observed: boolean): string {
  return `ledge-internal:${module}${observed ? "-observed" : ""}`;
}

/**
 * The module of a binding, and its module for a script that the explorer observes. A module of its own, because
 * it needs a module of the runtime that earlier versions of workerd do not have, and workerd loads it only if
 * a binding names it.
 */
export function bindingModules(module: BindingModule): (Worker_Module & { internal: boolean })[] {
  const observedSource = `
    import tracing from "cloudflare-internal:tracing";
    import createBinding from "${bindingModuleName(module, false)}";
    export default (inner) => createBinding(inner, tracing);
  `;
  return [
    { name: bindingModuleName(module, false), internal: true, esModule: workerdModule(module) },
    { name: bindingModuleName(module, true), internal: true, esModule: observedSource },
  ];
}
