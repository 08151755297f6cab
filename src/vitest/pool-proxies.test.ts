import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { shareProxiesOfPool } from "./pool-proxies.ts";

const getUnknownPrototypeKey = (key: string | symbol): string => `unknown ${String(key)}`;

/** A class like those of the pool: each construction puts a proxy before the prototype. */
function proxiedClass(scope: { Proxy: ProxyConstructor }) {
  let lookups = 0;
  function Class(): object {
    Class.prototype = new scope.Proxy(Class.prototype, {
      get(target: object, key, receiver) {
        lookups++;
        return Reflect.get(target, key, receiver) ?? getUnknownPrototypeKey(key);
      },
    });
    return Reflect.construct(Object, [], Class) as object;
  }
  return { construct: () => Class() as Record<string, unknown>, lookups: () => lookups };
}

describe("shareProxiesOfPool()", () => {
  it("looks a property up through one proxy, whatever the number of objects", () => {
    const scope = { Proxy };
    shareProxiesOfPool(scope);
    const { construct, lookups } = proxiedClass(scope);
    let object = construct();
    for (let count = 0; count < 100; count++) object = construct();
    const before = lookups();
    expect(object["name"]).toBe("unknown name");
    expect(lookups() - before).toBe(1);
  });

  it("leaves the proxies of scripts alone", () => {
    const scope = { Proxy };
    shareProxiesOfPool(scope);
    const named = (object: object, name: string) =>
      new scope.Proxy(object, {
        get: (target, key) => `${name} ${String(Reflect.get(target, key))}`,
      });
    const inner = named({ key: "value" }, "inner");
    expect((named(inner, "outer") as { key: string }).key).toBe("outer inner value");
    expect(scope.Proxy.revocable({ key: "value" }, {}).proxy.key).toBe("value");
  });

  it("knows the proxies of the installed pool", () => {
    const pool = "../../node_modules/@cloudflare/vitest-pool-workers/dist/worker/lib/cloudflare/";
    const path = new URL(`${pool}test-internal.mjs`, import.meta.url);
    expect(readFileSync(path, "utf8")).toMatch(
      /new Proxy\(Class\.prototype, \{ get\([^}]*\bgetUnknownPrototypeKey\b/,
    );
  });
});
