/** The options of `ledge()` in `ledge/vitest`. */
import type { ProvidedContext } from "vitest";
import { UserError } from "../../base/user-error.ts";
import { stateKinds, type StateKind } from "../isolation/state-files.ts";

/** The options of the pool: `main`, `miniflare`, `wrangler`, and others. */
export interface PoolOptions {
  miniflare?: Record<string, unknown>;
  wrangler?: { configPath?: string; environment?: string };
  [option: string]: unknown;
}

export interface LedgeOptions extends PoolOptions {
  /**
   * The configuration file, relative to the project's root. Default: the nearest file in or above
   * the root.
   */
  configPath?: string;
  environment?: string;
  /** `true`: the store also serves `r2_buckets`, so that a project of wrangler needs no edit. */
  adopt?: boolean;
  /**
   * What of the writes of a test later tests do not see: everything by default. `false` isolates
   * nothing, and a list only the kinds of bindings in it.
   */
  isolate?: boolean | readonly IsolatedKind[];
  /** `false`: runtimes keep their state on the disk, also where a memory file system has room. */
  memory?: boolean;
}

export type IsolatedKind = "store" | "dns" | StateKind;

/** As in the pool: options that depend on values which the project's global setup provides. */
export type LedgeOptionsFunction = (context: {
  inject: <Key extends keyof ProvidedContext>(key: Key) => ProvidedContext[Key];
}) => FunctionOptions | Promise<FunctionOptions>;

/** The other options are needed before the values are known. */
type FunctionOptions = Omit<LedgeOptions, "isolate" | "memory">;

const allKinds: readonly IsolatedKind[] = ["store", "dns", ...stateKinds];

/** @throws UserError for a kind that does not exist */
export function isolatedKinds(isolate: LedgeOptions["isolate"] = true): readonly IsolatedKind[] {
  if (typeof isolate === "boolean") return isolate ? allKinds : [];
  const unknown = isolate.find((kind) => !allKinds.includes(kind));
  if (unknown === undefined) return isolate;
  throw new UserError(
    `The option isolate has "${unknown}", which is no kind of binding. The kinds are ` +
      `${allKinds.join(", ")}.`,
  );
}
