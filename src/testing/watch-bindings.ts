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
import { watchStub, type Stub } from "./watch-stub.ts";

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
    const cached =
      (method: string): Wrap =>
      (original) =>
        this.#wrap(
          original,
          (owner, [request]) => planCall(owner, method, [urlOf(request)]),
          cacheOwner,
        );
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
        this.#wrap(original, (each) => planCall(each, method, [each.key ?? ""]));
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
          // D1 says what is wrong with other values.
          Array.isArray(statements)
            ? statements.map((each) => this.#owners.get(each as object)?.sql ?? "")
            : [],
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
      return watchStub(made, original.apply(target, args) as Stub, owner, this.#calls);
    };
    this.#patchOnce(namespace, {
      get: stub,
      getByName: stub,
      jurisdiction: this.#derived((part, owner) => this.#owners.set(part, owner)),
    });
  }

  /** Observes a method of a binding whose first argument is a key, or several keys. */
  #keyed(method: string): Wrap {
    return (original) =>
      this.#wrap(original, (owner, [given]) =>
        planCall(owner, method, Array.isArray(given) ? given.map(String) : [String(given)]),
      );
  }

  readonly #createsUpload: Wrap = (original) => {
    const observed = this.#keyed("createMultipartUpload")(original);
    return async (bucket, args) => {
      const upload = (await observed(bucket, args)) as object;
      const owner = this.#owners.get(bucket);
      if (owner !== undefined) this.#addUpload(upload, { ...owner, key: String(args[0]) });
      return upload;
    };
  };

  #listed(): Wrap {
    return (original) =>
      this.#wrap(original, (owner, [options]) => {
        const { prefix } = (options ?? {}) as { prefix?: string | null };
        return planCall(owner, "list", [prefix ?? ""]);
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

  /** @param ownerOfOthers of objects that are not known; without it they are left alone */
  #wrap(
    original: Method,
    plan: (owner: Owner, args: readonly unknown[]) => PlannedCall,
    ownerOfOthers?: Owner,
  ): Wrapped {
    return (target, args) => {
      const owner = this.#owners.get(target) ?? ownerOfOthers;
      if (owner === undefined) return original.apply(target, args);
      const execute = () => original.apply(target, args) as Promise<unknown>;
      return this.#calls.run(plan(owner, args), execute);
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

const cacheOwner: Owner = { kind: "cache", binding: cachesBinding };

function urlOf(request: unknown): string {
  return request instanceof Request ? request.url : String(request);
}
