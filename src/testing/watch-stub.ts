/**
 * Lets `BindingCalls` see the calls of a stub of a Durable Object.
 *
 * A stub has no methods: the runtime makes each of them when a script names it. So the prototype of the stub
 * is replaced by a proxy, and calls go to a second stub of the same object, whose prototype is the runtime's own.
 * The first stub stays an object of the runtime, which can be passed to other objects and to the pool.
 */
import { planCall, type PlannedCall } from "./binding-call.ts";
import type { BindingCalls } from "./binding-calls.ts";

export interface Stub {
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

/** @param inner another stub of the same object */
export function watchStub(
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
