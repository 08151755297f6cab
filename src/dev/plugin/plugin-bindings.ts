/** The bindings of scripts that our plugins serve, and the scripts that Miniflare starts together. */
import { isDeepStrictEqual } from "node:util";
import type { ParsedWorkerOptions } from "miniflare";
import { UserError } from "../../base/user-error.ts";
import { newRunId } from "../../state/runs.ts";

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

/** The first pair of bindings with different options. */
export function differentPair<Binding extends { readonly options: unknown }>([
  first,
  ...others
]: readonly Binding[]): readonly [Binding, Binding] | null {
  const other = others.find(({ options }) => !isDeepStrictEqual(options, first?.options));
  return first === undefined || other === undefined ? null : [first, other];
}

/** The scripts that Miniflare starts together, for one plugin. */
export interface Run<Use> {
  readonly runId: string;
  readonly workers: readonly ParsedWorkerOptions[];
  /** How the run uses the plugin's folder, from the first services on. */
  use?: Use;
}

/**
 * Since 5.20261117, Miniflare copies the options of a worker for each start, and asks for the bindings in Node with
 * the options before the copy. Both have the same entries of `env`.
 */
export class Runs<Use> {
  readonly #runs = new WeakMap<object, Run<Use>>();

  /** Called in `getExtensions()`, which Miniflare calls first, with all scripts of a run. */
  begin(workers: readonly ParsedWorkerOptions[]): Run<Use> {
    const run = { runId: newRunId(), workers };
    for (const part of workers.flatMap(partsOf)) this.#runs.set(part, run);
    return run;
  }

  of(worker: ParsedWorkerOptions): Run<Use> {
    const [run] = partsOf(worker).flatMap((part) => this.#runs.get(part) ?? []);
    return run ?? this.begin([worker]);
  }
}

function partsOf(worker: ParsedWorkerOptions): object[] {
  return [worker, ...Object.values(worker.config.env ?? {})];
}
