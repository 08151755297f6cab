/**
 * Keeps the Durable Objects of long test files fast.
 *
 * The pool wraps each class, and puts a proxy before the prototype whenever an object is constructed: before
 * the proxy of the object before. After n objects, each property of an object is looked up through n proxies.
 * Isolation constructs objects again for each test, and the 400th construction took 30 times as long as the
 * first. All these proxies do the same, and one is enough.
 */

/** A name in the source of the pool's proxies, by which they are known. A pool without it is left alone. */
const mark = "getUnknownPrototypeKey";

export function shareProxiesOfPool(scope: { Proxy: ProxyConstructor } = globalThis): void {
  const proxies = new WeakSet();
  scope.Proxy = new Proxy(scope.Proxy, {
    construct(target, [object, handler]: [object, { get?: unknown }]) {
      const isOfPool = String(handler.get).includes(mark);
      if (isOfPool && proxies.has(object)) return object;
      const proxy = new target(object, handler as ProxyHandler<object>);
      if (isOfPool) proxies.add(proxy);
      return proxy;
    },
  });
}
