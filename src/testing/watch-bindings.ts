/**
 * Lets `BindingCalls` see the calls of KV, D1, R2, caches, queues, Durable Objects and services, and of `fetch()`.
 *
 * The bindings are objects of the runtime, and the script has the same objects as the tests. Their methods
 * are on prototypes, where they are replaced. The objects stay what they are, so they can be passed on
 * and compared. Objects that come neither from `env` nor from `exports` are left alone.
 */
import {
  bindingMethods,
  planCall,
  planSql,
  type BindingKind,
  type PlannedCall,
} from "./binding-call.ts";
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
  ["LoopbackDurableObjectNamespace", "durable_objects"],
  ["WorkerQueue", "queue"],
  ["Fetcher", "service"],
]);

/** The bindings of Ledge and of the pool. */
export const internalName = /^(?:LEDGE_|__VITEST)/;

/** The methods that return another object of the same binding: an upload, a statement, a session, a stub. */
const makers: Readonly<Partial<Record<BindingKind, readonly string[]>>> = {
  r2: ["createMultipartUpload", "resumeMultipartUpload"],
  d1: ["prepare", "bind", "withSession"],
  durable_objects: ["get", "getByName", "jurisdiction"],
};

/** All caches share the methods. */
const cacheOwner: Owner = { kind: "cache", binding: "caches" };

const fetchOwner: Owner = { kind: "fetch", binding: "fetch" };

/** The bindings whose calls can be seen, the caches, and the global `fetch()`. */
export function kindsOfBindings(env: Readonly<Record<string, unknown>>): BindingKinds {
  const kinds = Object.entries(env).flatMap(([name, value]): [string, BindingKind][] => {
    const kind = kindOf(name, value);
    return kind === undefined ? [] : [[name, kind]];
  });
  return new Map([...kinds, [cacheOwner.binding, "cache"], [fetchOwner.binding, "fetch"]]);
}

/** `undefined` for a binding whose calls cannot be seen. */
export function kindOf(name: string, value: unknown): BindingKind | undefined {
  if (internalName.test(name)) return undefined;
  // A namespace of `exports` is a function.
  if ((typeof value !== "object" && typeof value !== "function") || value === null)
    return undefined;
  const prototype = Object.getPrototypeOf(value) as { constructor?: { name?: string } } | null;
  return kindOfClass.get(prototype?.constructor?.name ?? "");
}

/** @param objectsEnded how often the runtime has ended its objects */
export function watchBindings(
  env: Readonly<Record<string, unknown>>,
  calls: BindingCalls,
  objectsEnded: () => number,
): void {
  const watch = new BindingWatch(calls, objectsEnded);
  for (const [binding, value] of Object.entries(env)) {
    const kind = kindOf(binding, value);
    if (kind === "service") watchService(value as object, { kind, binding }, calls);
    else if (kind !== undefined) watch.add(value as object, { kind, binding });
  }
  watchFetch(calls);
  if (typeof caches !== "undefined") watch.add(caches.default, cacheOwner);
}

class BindingWatch {
  readonly #calls: BindingCalls;
  readonly #objectsEnded: () => number;
  readonly #owners = new WeakMap<object, Owner>();
  readonly #patched = new WeakSet();

  constructor(calls: BindingCalls, objectsEnded: () => number) {
    this.#calls = calls;
    this.#objectsEnded = objectsEnded;
  }

  /** Replaces the methods of the prototype of an object, unless this has happened. */
  add(object: object, owner: Owner): void {
    this.#owners.set(object, owner);
    const { kind } = owner;
    const methods = [...(bindingMethods[kind] ?? []), ...(makers[kind] ?? [])];
    const prototype = prototypeWith(object, methods);
    if (prototype === null || this.#patched.has(prototype)) return;
    this.#patched.add(prototype);
    const replace = (
      names: readonly string[],
      wrap: (original: Method, name: string) => Method,
    ) => {
      for (const name of names) {
        const original = prototype[name];
        if (typeof original === "function") prototype[name] = wrap(original as Method, name);
      }
    };
    replace(bindingMethods[kind] ?? [], (original, method) =>
      this.#observe(original, method, kind),
    );
    replace(makers[kind] ?? [], (original, method) => this.#follow(original, method));
  }

  #observe(original: Method, method: string, kind: BindingKind): Method {
    const [calls, owners] = [this.#calls, this.#owners];
    return function (...args) {
      const owner = kind === "cache" ? cacheOwner : owners.get(this);
      if (owner === undefined) return original.apply(this, args);
      const sqlOf = (statement: object): string => owners.get(statement)?.sql ?? "";
      const execute = () => original.apply(this, args) as Promise<unknown>;
      return calls.run(plan(owner, method, args[0], sqlOf), execute);
    };
  }

  #follow(original: Method, method: string): Method {
    const [calls, owners, objectsEnded] = [this.#calls, this.#owners, this.#objectsEnded];
    const add = (object: object, owner: Owner): object => {
      this.add(object, owner);
      return object;
    };
    return function (...args) {
      const made = original.apply(this, args);
      const owner = owners.get(this);
      if (owner === undefined) return made;
      const { kind } = owner;
      if (kind === "durable_objects" && method !== "jurisdiction") {
        const make = (): Stub => original.apply(this, args) as Stub;
        return watchStub(made as Stub, livingStub(make, objectsEnded), owner, calls);
      }
      const detail = {
        ...(kind === "r2" && { key: String(args[0]) }),
        ...(method === "prepare" && { sql: String(args[0]) }),
      };
      return made instanceof Promise
        ? made.then((object: object) => add(object, { ...owner, ...detail }))
        : add(made as object, { ...owner, ...detail });
    };
  }
}

/** The methods of a class can be those of the class that the class extends. */
function prototypeWith(object: object, names: readonly string[]): Record<string, unknown> | null {
  const prototype = Object.getPrototypeOf(object) as Record<string, unknown> | null;
  if (prototype === null || names.some((name) => Object.hasOwn(prototype, name))) return prototype;
  return prototypeWith(prototype, names);
}

/** @param sqlOf the SQL of a statement */
function plan(
  owner: Owner,
  method: string,
  argument: unknown,
  sqlOf: (statement: object) => string,
): PlannedCall {
  const { kind, key, sql } = owner;
  if (kind === "d1") {
    if (sql !== undefined) return planSql(owner, method, [sql]);
    if (method === "exec") return planSql(owner, method, [String(argument)]);
    // D1 says what is wrong with other values.
    return planSql(owner, method, Array.isArray(argument) ? (argument as object[]).map(sqlOf) : []);
  }
  if (kind === "queue") {
    const isBatch = method === "sendBatch" && Symbol.iterator in Object(argument);
    const messages = isBatch
      ? Array.from(argument as Iterable<{ body?: unknown }>, (message) => message?.body)
      : [argument];
    return { ...planCall(owner, method, []), messages };
  }
  if (key !== undefined) return planCall(owner, method, [key]);
  if (method === "list") {
    return planCall(owner, method, [(argument as { prefix?: string } | undefined)?.prefix ?? ""]);
  }
  if (argument instanceof Request) return planCall(owner, method, [argument.url]);
  return planCall(owner, method, [argument].flat().map(String));
}

/** What replaces `fetch` later, such as a mock, sees the calls first: a mocked call is not recorded. */
function watchFetch(calls: BindingCalls): void {
  const original = globalThis.fetch;
  globalThis.fetch = async function fetch(...args) {
    const [input, init] = args;
    const isRequest = input instanceof Request;
    const method = init?.method ?? (isRequest ? input.method : "GET");
    const call = planCall(fetchOwner, method.toUpperCase(), [urlOf(input)]);
    return calls.run(call, () => original(...args));
  };
}

function urlOf(input: unknown): string {
  return input instanceof Request ? input.url : String(input);
}

/**
 * A service has one stub, whose methods the runtime makes too. So the prototype of the stub is replaced as below, and
 * the stub has its own prototype again for the moment in which the runtime makes a method.
 */
function watchService(
  stub: object,
  binding: Pick<PlannedCall, "kind" | "binding">,
  calls: BindingCalls,
): void {
  const own = Object.getPrototypeOf(stub) as object;
  const methodOf = (name: string): [unknown, object] => [readWith(own, stub, name), stub];
  const touch = (name: string): void => calls.touch(planCall(binding, name, []));
  replacePrototype(stub, methodOf, touch, (name, execute, args) =>
    name === "fetch"
      ? calls.run(planCall(binding, name, [urlOf(args[0])]), execute)
      : calls.runRpc({ ...planCall(binding, name, []), args }, execute),
  );
}

/** A property of a binding whose prototype was replaced: the runtime makes it for its own prototype alone. */
export function readWith(prototype: object, binding: object, name: string): unknown {
  const replaced = Object.getPrototypeOf(binding) as object;
  Object.setPrototypeOf(binding, prototype);
  try {
    return binding[name as keyof object];
  } finally {
    Object.setPrototypeOf(binding, replaced);
  }
}

interface Stub {
  readonly id: { toString(): string };
  readonly name?: string;
  readonly [method: string]: unknown;
}

type RpcMethod = (...args: never[]) => unknown;

const namesOfEveryObject: ReadonlySet<string> = new Set(
  Object.getOwnPropertyNames(Object.prototype),
);

/**
 * A stub belongs to the object that its first call has reached, and all its calls fail when isolation has ended that
 * object. So a script and a test that keep a stub go on with another stub of the same name or id.
 */
function livingStub(make: () => Stub, objectsEnded: () => number): () => Stub {
  let stub = make();
  let madeAt = objectsEnded();
  return () => {
    if (madeAt !== objectsEnded()) [stub, madeAt] = [make(), objectsEnded()];
    return stub;
  };
}

/**
 * A stub of a Durable Object has no methods: the runtime makes each of them when a script names it. So the
 * prototype of the stub is replaced by a proxy, and calls go to a second stub of the same object, whose
 * prototype is the runtime's own. The first stub stays an object of the runtime, which can be passed on.
 *
 * @param inner another stub of the same object
 */
function watchStub(
  stub: Stub,
  inner: () => Stub,
  binding: Pick<PlannedCall, "kind" | "binding">,
  calls: BindingCalls,
): Stub {
  const key = stub.name ?? stub.id.toString();
  const methodOf = (name: string): [unknown, object] => {
    const current = inner();
    return [current[name], current];
  };
  const touch = (name: string): void => calls.touch(planCall(binding, name, [key]));
  replacePrototype(stub, methodOf, touch, (name, execute) => {
    const call = planCall(binding, name, [key]);
    return name === "fetch" ? calls.run(call, execute) : calls.runRpc(call, execute);
  });
  return stub;
}

/**
 * @param methodOf a method of the runtime, and the stub that the method is called on
 * @param touch a method is named: the calls of a path (`stub.property.method()`) and of the pool are not run by `run`
 */
function replacePrototype(
  stub: object,
  methodOf: (name: string) => readonly [method: unknown, self: object],
  touch: (name: string) => void,
  run: (name: string, execute: () => PromiseLike<unknown>, args: readonly unknown[]) => unknown,
): void {
  const methods = new Proxy(Object.create(Object.getPrototypeOf(stub) as object) as object, {
    get(target, name, receiver) {
      if (typeof name === "symbol" || namesOfEveryObject.has(name)) {
        return Reflect.get(target, name, receiver) as unknown;
      }
      const [method] = methodOf(name);
      if (typeof method !== "function") return method;
      touch(name);
      return watchMethod(method as RpcMethod, (args) => {
        const execute = (): PromiseLike<unknown> => {
          const [current, self] = methodOf(name);
          return Reflect.apply(current as RpcMethod, self, args) as PromiseLike<unknown>;
        };
        // `connect` returns a socket.
        return name === "connect" || isOfPool(name, args) ? execute() : run(name, execute, args);
      });
    },
  });
  Object.setPrototypeOf(stub, methods);
}

/** A proxy, because `stub.property` is also a promise, and the start of a path. */
function watchMethod(method: RpcMethod, run: (args: unknown[]) => unknown): RpcMethod {
  return new Proxy(method, {
    get(target, property) {
      const part = Reflect.get(target, property, target) as unknown;
      const isOfPromise = ["then", "catch", "finally"].includes(property as string);
      return isOfPromise && typeof part === "function" ? (part.bind(target) as unknown) : part;
    },
    apply: (_, __, args: unknown[]) => run(args),
  });
}

/** The pool reaches into objects by requests with a mark of its own: `runInDurableObject()`. */
function isOfPool(method: string, [, init]: readonly unknown[]): boolean {
  if (method !== "fetch") return false;
  const { cf } = (init ?? {}) as { cf?: unknown };
  return (
    typeof cf === "object" &&
    cf !== null &&
    Object.keys(cf).some((name) => name.startsWith("vitestPoolWorkers"))
  );
}
