/**
 * Lets `BindingCalls` see the calls of KV, D1, R2, caches and Durable Objects.
 *
 * The bindings are objects of the runtime, and the script has the same objects as the tests. Their methods
 * are on prototypes, where they are replaced. The objects stay what they are, so they can be passed on
 * and compared. Objects that do not come from `env` are left alone.
 */
import { planCall, planSql, type BindingKind, type PlannedCall } from "./binding-call.ts";
import type { BindingCalls } from "./binding-calls.ts";
import type { BindingKinds } from "./binding-fault.ts";

interface Owner {
  readonly kind: BindingKind;
  readonly binding: string;
  /** The key of an upload */
  readonly key?: string;
  /** The SQL of a statement */
  readonly sql?: string;
}

type Method = (this: object, ...args: unknown[]) => unknown;

const kindOfClass: ReadonlyMap<string, BindingKind> = new Map([
  ["KvNamespace", "kv"],
  ["D1Database", "d1"],
  ["R2Bucket", "r2"],
  ["DurableObjectNamespace", "durable_objects"],
]);

const cachesBinding = "caches";

/** The bindings whose calls can be seen, and the caches. */
export function kindsOfBindings(env: Readonly<Record<string, unknown>>): BindingKinds {
  const kinds = Object.entries(env).flatMap(([name, value]): [string, BindingKind][] => {
    const kind = kindOf(value);
    return kind === undefined ? [] : [[name, kind]];
  });
  return new Map([...kinds, [cachesBinding, "cache"]]);
}

function kindOf(value: unknown): BindingKind | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: string } } | null;
  return kindOfClass.get(prototype?.constructor?.name ?? "");
}

export function watchBindings(env: Readonly<Record<string, unknown>>, calls: BindingCalls): void {
  const watch = new BindingWatch(calls);
  for (const [binding, value] of Object.entries(env)) {
    const kind = kindOf(value);
    if (kind !== undefined) watch.add(value as object, { kind, binding });
  }
  if (typeof caches !== "undefined") watch.addCaches(caches.default);
}

class BindingWatch {
  readonly #calls: BindingCalls;
  readonly #owners = new WeakMap<object, Owner>();
  readonly #patched = new WeakSet();

  constructor(calls: BindingCalls) {
    this.#calls = calls;
  }

  add(object: object, owner: Owner): void {
    this.#owners.set(object, owner);
    switch (owner.kind) {
      case "kv":
        return this.#patchOnce(object, {
          ...this.#observed(["get", "getWithMetadata", "put", "delete"], keyed),
          ...this.#observed(["list"], listed),
        });
      case "r2":
        return this.#patchOnce(object, {
          ...this.#observed(["head", "get", "put", "delete"], keyed),
          ...this.#observed(["list"], listed),
          createMultipartUpload: this.#createsUpload,
          resumeMultipartUpload: this.#derived((upload, bucket, [key]) =>
            this.#addUpload(upload, { ...bucket, key: String(key) }),
          ),
        });
      case "d1":
        return this.#addDatabase(object);
      case "durable_objects":
        return this.#addNamespace(object);
      case "cache":
    }
  }

  /** All caches share the methods. */
  addCaches(cache: object): void {
    const owner: Owner = { kind: "cache", binding: cachesBinding };
    this.#patchOnce(
      cache,
      this.#observed(
        ["match", "put", "delete"],
        (each, method, [request]) => {
          const url = request instanceof Request ? request.url : String(request);
          return planCall(each, method, [url]);
        },
        owner,
      ),
    );
  }

  #addUpload(upload: object, owner: Owner): void {
    this.#owners.set(upload, owner);
    this.#patchOnce(
      upload,
      this.#observed(["uploadPart", "complete", "abort"], (each, method) =>
        planCall(each, method, [each.key ?? ""]),
      ),
    );
  }

  #addDatabase(database: object): void {
    const statements = {
      prepare: this.#derived((statement, owner, [sql]) =>
        this.#addStatement(statement, { ...owner, sql: String(sql) }),
      ),
      ...this.#observed(["batch"], (owner, method, [batch]) => {
        // D1 says what is wrong with other values.
        const all = Array.isArray(batch) ? (batch as object[]) : [];
        return planSql(
          owner,
          method,
          all.map((each) => this.#owners.get(each)?.sql ?? ""),
        );
      }),
    };
    this.#patchOnce(database, {
      ...statements,
      ...this.#observed(["exec"], (owner, method, [sql]) => planSql(owner, method, [String(sql)])),
      withSession: this.#derived((session, owner) => {
        this.#owners.set(session, owner);
        this.#patchOnce(session, statements);
      }),
    });
  }

  #addStatement(statement: object, owner: Owner): void {
    this.#owners.set(statement, owner);
    this.#patchOnce(statement, {
      ...this.#observed(["first", "run", "all", "raw"], (each, method) =>
        planSql(each, method, [each.sql ?? ""]),
      ),
      bind: this.#derived((bound, each) => this.#owners.set(bound, each)),
    });
  }

  #addNamespace(namespace: object): void {
    const stub: Wrap = (original) => (target, args) => {
      const owner = this.#owners.get(target);
      const made = original.apply(target, args) as Stub;
      if (owner === undefined) return made;
      return watchStub(made, original.apply(target, args) as Stub, owner, this.#calls);
    };
    this.#patchOnce(namespace, {
      get: stub,
      getByName: stub,
      jurisdiction: this.#derived((part, owner) => this.#owners.set(part, owner)),
    });
  }

  readonly #createsUpload: Wrap = (original) => {
    const observed = this.#wrap(original, "createMultipartUpload", keyed);
    return async (bucket, args) => {
      const upload = (await observed(bucket, args)) as object;
      const owner = this.#owners.get(bucket);
      if (owner !== undefined) this.#addUpload(upload, { ...owner, key: String(args[0]) });
      return upload;
    };
  };

  /** Adds what a synchronous method returns: a statement, a session, an upload. */
  #derived(add: (object: object, owner: Owner, args: readonly unknown[]) => void): Wrap {
    return (original) => (target, args) => {
      const result = original.apply(target, args) as object;
      const owner = this.#owners.get(target);
      if (owner !== undefined) add(result, owner, args);
      return result;
    };
  }

  #observed(methods: readonly string[], plan: Plan, ownerOfOthers?: Owner): Record<string, Wrap> {
    return Object.fromEntries(
      methods.map((method) => [
        method,
        (original) => this.#wrap(original, method, plan, ownerOfOthers),
      ]),
    );
  }

  /** @param ownerOfOthers of objects that are not known; without it they are left alone */
  #wrap(original: Method, method: string, plan: Plan, ownerOfOthers?: Owner): Wrapped {
    return (target, args) => {
      const owner = this.#owners.get(target) ?? ownerOfOthers;
      if (owner === undefined) return original.apply(target, args);
      const execute = () => original.apply(target, args) as Promise<unknown>;
      return this.#calls.run(plan(owner, method, args), execute);
    };
  }

  /** Replaces methods of the prototype of an object, unless this has happened. */
  #patchOnce(object: object, wraps: Readonly<Record<string, Wrap>>): void {
    const prototype = Object.getPrototypeOf(object) as Record<string, unknown>;
    if (this.#patched.has(prototype)) return;
    this.#patched.add(prototype);
    for (const [name, wrap] of Object.entries(wraps)) {
      const original = prototype[name];
      if (typeof original !== "function") continue;
      const wrapped = wrap(original as Method);
      prototype[name] = function (this: object, ...args: unknown[]): unknown {
        return wrapped(this, args);
      };
    }
  }
}

type Wrapped = (target: object, args: unknown[]) => unknown;
type Wrap = (original: Method) => Wrapped;
type Plan = (owner: Owner, method: string, args: readonly unknown[]) => PlannedCall;

/** A call whose first argument is a key, or several keys. */
function keyed(owner: Owner, method: string, [given]: readonly unknown[]): PlannedCall {
  return planCall(owner, method, Array.isArray(given) ? given.map(String) : [String(given)]);
}

function listed(owner: Owner, method: string, [options]: readonly unknown[]): PlannedCall {
  const { prefix } = (options ?? {}) as { prefix?: string | null };
  return planCall(owner, method, [prefix ?? ""]);
}

interface Stub {
  readonly id: { toString(): string };
  readonly name?: string;
  readonly [method: string]: unknown;
}

type RpcMethod = (...args: never[]) => unknown;

/** `connect` returns a socket, and the others are of every object. */
const unwatchedNames: ReadonlySet<string> = new Set([
  "connect",
  ...Object.getOwnPropertyNames(Object.prototype),
]);

/**
 * A stub of a Durable Object has no methods: the runtime makes each of them when a script names it. So the
 * prototype of the stub is replaced by a proxy, and calls go to a second stub of the same object, whose
 * prototype is the runtime's own. The first stub stays an object of the runtime, which can be passed on.
 *
 * @param inner another stub of the same object
 */
function watchStub(
  stub: Stub,
  inner: Stub,
  binding: Pick<PlannedCall, "kind" | "binding">,
  calls: BindingCalls,
): Stub {
  const key = stub.name ?? stub.id.toString();
  const methods = new Proxy(Object.create(Object.getPrototypeOf(stub) as object) as object, {
    get(target, name, receiver) {
      if (typeof name === "symbol" || unwatchedNames.has(name)) {
        return Reflect.get(target, name, receiver) as unknown;
      }
      const method = inner[name];
      if (typeof method !== "function") return method;
      const call = planCall(binding, name, [key]);
      return watchMethod(method as RpcMethod, inner, (execute, args) => {
        if (name !== "fetch") return calls.runRpc(call, execute);
        return isOfPool(args) ? execute() : calls.run(call, execute);
      });
    },
  });
  return Object.setPrototypeOf(stub, methods) as Stub;
}

/** A proxy, because `stub.property` is also a promise, and the start of a path. */
function watchMethod(
  method: RpcMethod,
  stub: Stub,
  run: (execute: () => PromiseLike<unknown>, args: readonly unknown[]) => unknown,
): RpcMethod {
  return new Proxy(method, {
    get(target, property) {
      const part = Reflect.get(target, property, target) as unknown;
      const isOfPromise = ["then", "catch", "finally"].includes(property as string);
      return isOfPromise && typeof part === "function" ? (part.bind(target) as unknown) : part;
    },
    apply: (target, _, args: unknown[]) =>
      run(() => Reflect.apply(target, stub, args) as PromiseLike<unknown>, args),
  });
}

/** The pool reaches into objects by requests with a mark of its own: `runInDurableObject()`. */
function isOfPool([, init]: readonly unknown[]): boolean {
  const { cf } = (init ?? {}) as { cf?: unknown };
  return (
    typeof cf === "object" &&
    cf !== null &&
    Object.keys(cf).some((name) => name.startsWith("vitestPoolWorkers"))
  );
}
