/** Calls of bindings other than buckets, as tests inspect them and as faults match them. */

/** The kinds of bindings whose calls are recorded; the names are those of the option `isolate`. */
export type BindingKind = "kv" | "d1" | "r2" | "cache" | "durable_objects";

/** What is known of a call before it is made. */
export interface PlannedCall {
  readonly kind: BindingKind;
  /** The name in `env`; `"caches"` for a cache */
  readonly binding: string;
  /** For a Durable Object, `"fetch"` or the name of the RPC method */
  readonly method: string;
  /** The key; the prefix of a `list`; the URL in a cache; the name or the id of a Durable Object */
  readonly key: string;
  /** All keys of a call with several; otherwise one key, and none for D1 */
  readonly keys: readonly string[];
  /** The SQL of a call of D1; the statements of a batch with `;` between them */
  readonly sql?: string;
  /** Each statement of a batch; otherwise one */
  readonly statements?: readonly string[];
}

export interface BindingCall extends PlannedCall {
  /** `"none"`: there is no such key, object or row, or a condition did not hold */
  readonly outcome: "ok" | "none" | "error";
  /** The message of the error; only with the outcome `"error"` */
  readonly error?: string;
  readonly milliseconds: number;
}

/** The methods of each kind. The methods of a Durable Object are those of its class. */
export const bindingMethods: Readonly<Record<BindingKind, readonly string[] | null>> = {
  kv: ["get", "getWithMetadata", "put", "delete", "list"],
  d1: ["first", "run", "all", "raw", "batch", "exec"],
  r2: [
    "head",
    "get",
    "put",
    "delete",
    "list",
    "createMultipartUpload",
    "uploadPart",
    "complete",
    "abort",
  ],
  cache: ["match", "put", "delete"],
  durable_objects: null,
};

/** Whether the result of a call says that there is nothing. */
export function isNone({ kind, method }: PlannedCall, result: unknown): boolean {
  switch (kind) {
    case "kv":
      if (method === "get") return result === null;
      return method === "getWithMetadata" && (result as { value?: unknown }).value === null;
    case "d1":
      return method === "first" && result === null;
    case "r2":
      return ["head", "get", "put"].includes(method) && result === null;
    case "cache":
      return method === "match" ? result === undefined : method === "delete" && result === false;
    case "durable_objects":
      return false;
  }
}

type Binding = Pick<PlannedCall, "kind" | "binding">;

export function planCall(
  { kind, binding }: Binding,
  method: string,
  keys: readonly string[],
): PlannedCall {
  return { kind, binding, method, key: keys[0] ?? "", keys };
}

export function planSql(
  binding: Binding,
  method: string,
  statements: readonly string[],
): PlannedCall {
  return { ...planCall(binding, method, []), sql: statements.join(";\n"), statements };
}

/** `put of "a" in KV`, `run of "INSERT …" in DB` */
export function describePlannedCall({
  binding,
  method,
  key,
  sql,
}: Pick<PlannedCall, "binding" | "method" | "key" | "sql">): string {
  return `${method} of "${sql ?? key}" in ${binding}`;
}
