/**
 * Lets `BindingCalls` see the calls of KV, D1, R2, caches and Durable Objects.
 *
 * The bindings are objects of the runtime, and the script has the same objects as the tests. Their methods
 * are on prototypes, where they are replaced. The objects stay what they are, so they can be passed on
 * and compared. Objects that do not come from `env` are left alone.
 */
import type { BindingKind, PlannedCall } from "./binding-call.ts";
import type { BindingCalls } from "./binding-calls.ts";
import type { BindingKinds } from "./binding-fault.ts";

interface Owner {
  readonly kind: BindingKind;
  readonly binding: string;
  /** The key of an upload, or of a Durable Object */
  readonly key?: string;
  /** The SQL of a statement */
  readonly sql?: string;
}

type Method = (this: object, ...args: unknown[]) => unknown;

const kindOfClass: Readonly<Record<string, BindingKind>> = {
  KvNamespace: "kv",
  D1Database: "d1",
  R2Bucket: "r2",
  DurableObjectNamespace: "durable_objects",
};

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
  const { name } = (Object.getPrototypeOf(value) as { constructor?: { name?: string } } | null)
    ?.constructor ?? { name: undefined };
  return name === undefined || !Object.hasOwn(kindOfClass, name) ? undefined : kindOfClass[name];
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
          get: this.#keyed("get"),
          getWithMetadata: this.#keyed("getWithMetadata"),
          put: this.#keyed("put"),
          delete: this.#keyed("delete"),
          list: this.#listed(),
        });
      case "r2":
        return this.#patchOnce(object, {
          head: this.#keyed("head"),
          get: this.#keyed("get"),
          put: this.#keyed("put"),
          delete: this.#keyed("delete"),
          list: this.#listed(),
          createMultipartUpload: this.#keyed("createMultipartUpload", (upload, bucket, key) =>
            this.#addUpload(upload as object, { ...bucket, key }),
          ),
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
    const cached =
      (method: string): Wrap =>
      (original) =>
        this.#wrapAny(original, (args) => plan(cacheOwner, method, [urlOf(args[0])]));
    this.#patchOnce(cache, {
      match: cached("match"),
      put: cached("put"),
      delete: cached("delete"),
    });
  }

  #addUpload(upload: object, owner: Owner): void {
    this.#owners.set(upload, owner);
    const part =
      (method: string): Wrap =>
      (original) =>
        this.#wrap(original, (each) => plan(each, method, [each.key ?? ""]));
    this.#patchOnce(upload, {
      uploadPart: part("uploadPart"),
      complete: part("complete"),
      abort: part("abort"),
    });
  }

  #addDatabase(database: object): void {
    const prepare = this.#derived((statement, owner, [sql]) =>
      this.#addStatement(statement, { ...owner, sql: String(sql) }),
    );
    const batch: Wrap = (original) =>
      this.#wrap(original, (owner, [statements]) =>
        planSql(
          owner,
          "batch",
          [...(statements as Iterable<object>)].map((each) => this.#owners.get(each)?.sql ?? ""),
        ),
      );
    this.#patchOnce(database, {
      prepare,
      batch,
      exec: (original) =>
        this.#wrap(original, (owner, [sql]) => planSql(owner, "exec", [String(sql)])),
      withSession: this.#derived((session, owner) => {
        this.#owners.set(session, owner);
        this.#patchOnce(session, { prepare, batch });
      }),
    });
  }

  #addStatement(statement: object, owner: Owner): void {
    this.#owners.set(statement, owner);
    const queried =
      (method: string): Wrap =>
      (original) =>
        this.#wrap(original, (each) => planSql(each, method, [each.sql ?? ""]));
    this.#patchOnce(statement, {
      first: queried("first"),
      run: queried("run"),
      all: queried("all"),
      raw: queried("raw"),
      bind: this.#derived((bound, each) => this.#owners.set(bound, each)),
    });
  }

  #addNamespace(namespace: object): void {
    const stub: Wrap = (original) => (target, args) => {
      const owner = this.#owners.get(target);
      const made = original.apply(target, args) as Stub;
      if (owner === undefined) return made;
      const key = made.name ?? made.id.toString();
      // Calls go to a second stub of the same object, whose prototype is the runtime's own.
      return this.#watchStub(made, original.apply(target, args) as Stub, { ...owner, key });
    };
    this.#patchOnce(namespace, {
      get: stub,
      getByName: stub,
      jurisdiction: this.#derived((part, owner) => this.#owners.set(part, owner)),
    });
  }

  #watchStub(stub: Stub, inner: Stub, owner: Owner): Stub {
    const prototype = Object.getPrototypeOf(stub) as object;
    const methods = new Proxy(Object.create(prototype) as object, {
      get: (target, name, receiver) => {
        if (typeof name === "symbol" || unwatchedNames.has(name)) {
          return Reflect.get(target, name, receiver) as unknown;
        }
        const value = inner[name];
        if (typeof value !== "function") return value;
        return this.#watchMethod(value as RpcMethod, name, inner, owner);
      },
    });
    return Object.setPrototypeOf(stub, methods) as Stub;
  }

  /** A proxy, because `stub.property` is also a promise, and the start of a path. */
  #watchMethod(value: RpcMethod, name: string, inner: Stub, owner: Owner): RpcMethod {
    return new Proxy(value, {
      get: (target, property) => {
        const part = Reflect.get(target, property, target) as unknown;
        const isOfPromise = ["then", "catch", "finally"].includes(property as string);
        return isOfPromise && typeof part === "function" ? (part.bind(target) as unknown) : part;
      },
      apply: (target, _, args: unknown[]) => {
        const execute = () => Reflect.apply(target, inner, args) as PromiseLike<unknown>;
        const call = plan(owner, name, [owner.key ?? ""]);
        if (name !== "fetch") return this.#calls.runRpc(call, execute);
        return isOfPool(args) ? execute() : this.#calls.run(call, execute);
      },
    });
  }

  /** Observes a method of a binding whose first argument is a key, or several keys. */
  #keyed(method: string, then?: (result: unknown, owner: Owner, key: string) => void): Wrap {
    return (original) => {
      const observed = this.#wrap(original, (owner, [given]) =>
        plan(owner, method, Array.isArray(given) ? given.map(String) : [String(given)]),
      );
      if (then === undefined) return observed;
      return async (target, args) => {
        const result = await observed(target, args);
        const owner = this.#owners.get(target);
        if (owner !== undefined) then(result, owner, String(args[0]));
        return result;
      };
    };
  }

  #listed(): Wrap {
    return (original) =>
      this.#wrap(original, (owner, [options]) => {
        const { prefix } = (options ?? {}) as { prefix?: string | null };
        return plan(owner, "list", [prefix ?? ""]);
      });
  }

  /** Adds what a synchronous method returns: a statement, a session, an upload. */
  #derived(add: (object: object, owner: Owner, args: readonly unknown[]) => void): Wrap {
    return (original) => (target, args) => {
      const result = original.apply(target, args) as object;
      const owner = this.#owners.get(target);
      if (owner !== undefined) add(result, owner, args);
      return result;
    };
  }

  #wrap(
    original: Method,
    planCall: (owner: Owner, args: readonly unknown[]) => PlannedCall,
  ): Wrapped {
    return (target, args) => {
      const owner = this.#owners.get(target);
      if (owner === undefined) return original.apply(target, args);
      const execute = () => original.apply(target, args) as Promise<unknown>;
      return this.#calls.run(planCall(owner, args), execute);
    };
  }

  #wrapAny(original: Method, planCall: (args: readonly unknown[]) => PlannedCall): Wrapped {
    return (target, args) =>
      this.#calls.run(planCall(args), () => original.apply(target, args) as Promise<unknown>);
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

type RpcMethod = (...args: never[]) => unknown;

interface Stub {
  readonly id: { toString(): string };
  readonly name?: string;
  readonly [method: string]: unknown;
}

/** `connect` returns a socket, and the others are of every object. */
const unwatchedNames: ReadonlySet<string> = new Set([
  "connect",
  ...Object.getOwnPropertyNames(Object.prototype),
]);

const cacheOwner: Owner = { kind: "cache", binding: cachesBinding };

function plan({ kind, binding }: Owner, method: string, keys: readonly string[]): PlannedCall {
  return { kind, binding, method, key: keys[0] ?? "", keys };
}

function planSql(owner: Owner, method: string, statements: readonly string[]): PlannedCall {
  return { ...plan(owner, method, []), sql: statements.join(";\n"), statements };
}

function urlOf(request: unknown): string {
  return request instanceof Request ? request.url : String(request);
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
