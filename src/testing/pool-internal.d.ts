/** The part of the pool's internal module that is used. Later versions may lack it. */
declare module "cloudflare:test-internal" {
  export const abortAllDurableObjects: (() => Promise<void>) | undefined;
  export const reset: (() => Promise<void>) | undefined;
  export const runInDurableObject:
    | ((stub: object, act: (instance: object, state: never) => Promise<void>) => Promise<void>)
    | undefined;
  export const handlerContextStore:
    | { getStore(): object | undefined; run<Result>(context: object, act: () => Result): Result }
    | undefined;
}

/** The object through which the pool ends Durable Objects. */
declare module "workerd:unsafe" {
  type End = (options?: unknown) => Promise<void>;
  const unsafe: {
    abortAllDurableObjects?: End;
    deleteAllDurableObjects?: End;
    evictAllDurableObjects?: End;
    evict?: (stub: unknown, options?: unknown) => Promise<void>;
  };
  export default unsafe;
}

/** The part of workerd's `node:async_hooks` that is used, because `@types/node` would declare all of Node. */
declare module "node:async_hooks" {
  export class AsyncLocalStorage<Value> {
    run<Result>(value: Value, act: () => Result): Result;
    getStore(): Value | undefined;
  }
}
