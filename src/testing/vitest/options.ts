/** The options of `ledge()` in `ledge/vitest`: their types for editors, and their checks. */
import type { LegacyWorkerOptions, V4ModuleRule } from "miniflare";
import type { ProvidedContext } from "vitest";
import * as v from "valibot";
import { nearest } from "../../base/nearest.ts";
import {
  anyTableSchema,
  booleanSchema,
  describeMistake,
  parseValue,
  tableSchema,
  type Mistake,
} from "../../base/schema.ts";
import { UserError } from "../../base/user-error.ts";
import { stateKinds, type StateKind } from "../isolation/state-files.ts";

/** Options of Miniflare for another worker of the runtime. */
type WorkerOptions = LegacyWorkerOptions & {
  /** @deprecated Use `cacheAPI`. */
  cache?: LegacyWorkerOptions["cacheAPI"];
};

/** The options of the pool, `@cloudflare/vitest-plugin` or `@cloudflare/vitest-pool-workers`. */
export interface PoolOptions {
  /** The script, relative to the project's root. Default: `main` of the configuration file. */
  main?: string;
  /** `false`: no binding reaches a deployed resource, also if the configuration file says so. Default: `true`. */
  remoteBindings?: boolean;
  /** `false`: the runtime prints less. Default: `true`. */
  verbose?: boolean;
  /** The kind of exports of the script that the pool cannot find by reading its text. */
  additionalExports?: Record<string, "WorkerEntrypoint" | "DurableObject" | "WorkflowEntrypoint">;
  /** Options of Miniflare for the script, over those of the configuration file, and other workers. */
  miniflare?: Omit<WorkerOptions, "script" | "scriptPath" | "modules" | "modulesRoot"> & {
    /** Which files are imported as text, data or WebAssembly. */
    modulesRules?: V4ModuleRule[];
    /** Other workers of the runtime, for service bindings. */
    workers?: WorkerOptions[];
  };
  /** As `configPath` and `environment` below. */
  wrangler?: { configPath?: string; environment?: string };
  experimental?: {
    /** The configuration file is `cloudflare.config.ts`, or the file at this path. */
    newConfig?: boolean | { configPath?: string };
  };
}

export interface LedgeOptions extends PoolOptions {
  /**
   * The configuration file, relative to the project's root. Default: the nearest `wrangler.jsonc`,
   * `wrangler.json` or `wrangler.toml` in or above the root.
   */
  configPath?: string;
  /** The environment of the configuration file: the NAME of `env.NAME`. */
  environment?: string;
  /** `true`: the store also serves `r2_buckets`, so that a project of wrangler needs no edit. */
  adopt?: boolean;
  /**
   * What of the writes of a test later tests do not see: everything by default. `false` isolates
   * nothing, and a list only the kinds of bindings in it, as in `["store", "kv"]`.
   */
  isolate?: boolean | readonly IsolatedKind[];
  /** `false`: runtimes keep their state on the disk, also where a memory file system has room. */
  memory?: boolean;
  /** Faults of tests (`faults` of `ledge/test`) */
  faults?: {
    /**
     * What happens if a test passes, or a suite ends, and a fault that it has set hit no call: a warning by
     * default. `"error"` makes the test or the suite fail, and `"ignore"` says nothing.
     */
    unused?: "warn" | "error" | "ignore";
  };
}

export type IsolatedKind = "store" | "dns" | StateKind;

/** As in the pool: options that depend on values which the project's global setup provides. */
export type LedgeOptionsFunction = (context: {
  inject: <Key extends keyof ProvidedContext>(key: Key) => ProvidedContext[Key];
}) => FunctionOptions | Promise<FunctionOptions>;

/** The other options are needed before the values are known. */
type FunctionOptions = Omit<LedgeOptions, "isolate" | "memory" | "faults">;

const reactions = ["warn", "error", "ignore"] as const;

const allKinds: readonly IsolatedKind[] = ["store", "dns", ...stateKinds];

/** The kinds of bindings whose writes are undone. */
export function isolatedKinds(isolate: LedgeOptions["isolate"] = true): readonly IsolatedKind[] {
  if (typeof isolate === "boolean") return isolate ? allKinds : [];
  return isolate;
}

const text = v.optional(v.string("must be text"));
const flag = v.optional(booleanSchema);
const path = tableSchema({ configPath: text });

/** A type error where `LedgeOptions` has an option that is missing here. */
const optionsSchema = tableSchema({
  main: text,
  remoteBindings: flag,
  verbose: flag,
  additionalExports: v.optional(anyTableSchema),
  miniflare: v.optional(anyTableSchema),
  wrangler: v.optional(tableSchema({ configPath: text, environment: text })),
  experimental: v.optional(
    tableSchema({
      newConfig: v.optional(v.lazy((input) => (typeof input === "object" ? path : booleanSchema))),
    }),
  ),
  configPath: text,
  environment: text,
  adopt: flag,
  isolate: v.optional(
    v.lazy((input) =>
      Array.isArray(input)
        ? v.array(v.picklist(allKinds, (issue) => unknownKind(issue.input)))
        : v.boolean("must be true, false or a list of kinds of bindings"),
    ),
  ),
  memory: flag,
  faults: v.optional(
    tableSchema({
      unused: v.optional(v.picklist(reactions, `must be one of ${reactions.join(", ")}`)),
    }),
  ),
} satisfies Record<keyof LedgeOptions, v.GenericSchema>);

function unknownKind(input: unknown): string {
  const guess = nearest(String(input), allKinds);
  const hint = guess === null ? `known are ${allKinds.join(", ")}` : `did you mean "${guess}"?`;
  return `is no kind of binding; ${hint}`;
}

/** @throws UserError that lists every mistake */
export function checkOptions(options: object): void {
  const mistakes: Mistake[] = [];
  parseValue(optionsSchema, options, [], (place, problem) => {
    mistakes.push({ path: place, problem });
  });
  if (mistakes.length === 0) return;
  const lines = mistakes.map((mistake) => `  ${describeMistake(mistake)}`);
  throw new UserError(`Options of ledge() in the configuration of vitest:\n${lines.join("\n")}`);
}
