/** What the pool's own module for tests has, as far as the runner uses it. */
declare module "cloudflare:test-internal" {
  export function reset(): Promise<void>;
  export const handlerContextStore: { getStore(): object | undefined } | undefined;
}

/** workerd's, whose types for Node's modules would bring all of Node's with them. */
declare module "node:async_hooks" {
  export class AsyncLocalStorage<Value> {
    run<Result>(value: Value, act: () => Result): Result;
    getStore(): Value | undefined;
  }
}
