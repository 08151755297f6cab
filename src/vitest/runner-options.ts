/** The options that the plugin (`index.ts`, in Node) provides to the runner (`runner.ts`, in workerd). */
export interface RunnerOptions {
  /** The kinds of bindings whose writes are undone. Every test and suite has an isolation layer. */
  readonly isolate: readonly string[];
  /** `true`: the next run reuses the runtime, so the runner resets it at the end. */
  readonly reusesRuntime: boolean;
}

/** The key of the options among the values that vitest provides. */
export const optionsKey = "ledge:options";

declare module "vitest" {
  interface ProvidedContext {
    [optionsKey]: RunnerOptions;
  }
}
