/** The bindings that tests reach the controls by. They are in `env` beside the script's own. */
export const controlBinding = "LEDGE_STORE_CONTROL";
export const dnsBinding = "LEDGE_DNS";

/** The key under which the plugin hands its options to the runner. */
export const optionsKey = "ledge:options";

export interface RunnerOptions {
  /** Whether tests and blocks are undone. */
  readonly isolate: boolean;
  /** Whether the runtime is used again for the next run, and has to be left as new. */
  readonly reusesRuntime: boolean;
}
