/** Calls of bindings other than buckets, as tests inspect them and as faults match them. */

/**
 * The kinds of bindings whose calls are recorded. The option `isolate` has the first five too; calls of the
 * other three have effects outside of the test's reach, and are not undone.
 */
export type BindingKind =
  | "kv"
  | "d1"
  | "r2"
  | "cache"
  | "durable_objects"
  | "service"
  | "queue"
  | "fetch";

/** What is known of a call before it is made. */
export interface PlannedCall {
  readonly kind: BindingKind;
  /** The name in `env`; `"caches"` for a cache, `"fetch"` for the global function */
  readonly binding: string;
  /**
   * For a Durable Object and a service, `"fetch"` or the name of the RPC method; for the global `fetch()`, the
   * method of HTTP
   */
  readonly method: string;
  /**
   * The key; the prefix of a `list`; the URL in a cache, of the global `fetch()` and of `fetch()` of a service; the
   * name or the id of a Durable Object; otherwise empty
   */
  readonly key: string;
  /** All keys of a call with several; otherwise one key, and none for D1 */
  readonly keys: readonly string[];
  /** The SQL of a call of D1; the statements of a batch with `;` between them */
  readonly sql?: string;
  /** Each statement of a batch; otherwise one */
  readonly statements?: readonly string[];
  /** The arguments of an RPC call of a service */
  readonly args?: readonly unknown[];
  /** The bodies that were sent to a queue */
  readonly messages?: readonly unknown[];
}

export interface BindingCall extends PlannedCall {
  /** `"none"`: there is no such key, object or row, or a condition did not hold */
  readonly outcome: "ok" | "none" | "error";
  /** The message of the error; only with the outcome `"error"` */
  readonly error?: string;
  /** The status of the response to a `fetch()`: of a service, a Durable Object, or the global function */
  readonly status?: number;
  readonly milliseconds: number;
}

/** The methods of each kind. The methods of a Durable Object and of a service are those of a class. */
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
  service: null,
  queue: ["send", "sendBatch"],
  fetch: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
};

/** What is recorded of the result of a call. */
export function describeResult(
  call: PlannedCall,
  result: unknown,
): Pick<BindingCall, "outcome" | "status"> {
  if (call.kind !== "cache" && result instanceof Response) {
    return { outcome: "ok", status: result.status };
  }
  return { outcome: isNone(call, result) ? "none" : "ok" };
}

/** Whether the result of a call says that there is nothing. */
function isNone({ kind, method }: PlannedCall, result: unknown): boolean {
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
    case "service":
    case "queue":
    case "fetch":
      return false;
  }
}

const reads: Readonly<Partial<Record<BindingKind, readonly string[]>>> = {
  kv: ["get", "getWithMetadata", "list"],
  r2: ["head", "get", "list"],
  cache: ["match"],
};

/** One statement, which can be followed by a semicolon but by no other statement */
const selection = /^\s*select\b[^;]*;?\s*$/i;

/** Whether a call leaves nothing to undo. `false` if this is not certain: an object can write in each of its methods. */
export function isRead({ kind, method, statements = [] }: PlannedCall): boolean {
  if (kind !== "d1") return reads[kind]?.includes(method) ?? false;
  return statements.length > 0 && statements.every((sql) => selection.test(sql));
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

/** `put of "a" in KV`, `run of "INSERT …" in DB`, `send in JOBS` */
export function describePlannedCall({
  binding,
  method,
  key,
  sql = key,
}: Pick<PlannedCall, "binding" | "method" | "key" | "sql">): string {
  return `${method}${sql === "" ? "" : ` of "${sql}"`} in ${binding}`;
}
