import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { MovedDate, shareProxiesOfPool } from "./pool-session.ts";

const day = 86_400_000;

it("moves the time of a Date without arguments, and nothing else", () => {
  const scope = { Date };
  const moved = new MovedDate(scope);
  moved.setOffset(100 * day);
  const { Date: MovedClass } = scope;
  expect(MovedClass).not.toBe(Date);
  const passed = (time: number) => Math.round((time - Date.now()) / day);
  expect(passed(MovedClass.now())).toBe(100);
  expect(passed(new MovedClass().getTime())).toBe(100);
  expect(passed(MovedClass.parse(MovedClass()))).toBe(100);
  expect(new MovedClass(0).getTime()).toBe(0);
  expect(new MovedClass(2020, 0, 2).getDate()).toBe(2);
  expect(MovedClass.UTC(1970, 0, 2)).toBe(day);
});

it("makes dates of the real class, also of subclasses", () => {
  const scope = { Date };
  new MovedDate(scope).setOffset(day);
  const { Date: MovedClass } = scope;
  class Timestamp extends MovedClass {}
  expect(new MovedClass()).toBeInstanceOf(Date);
  expect(new Date()).toBeInstanceOf(MovedClass);
  expect(new Timestamp()).toBeInstanceOf(Timestamp);
  expect(new Timestamp().getTime()).toBeGreaterThan(Date.now() + day / 2);
});

it("restores the real class, and does not replace the class of fake timers", () => {
  const scope = { Date };
  const moved = new MovedDate(scope);
  moved.setOffset(day);
  moved.setOffset(0);
  expect(scope.Date).toBe(Date);
  class FakeDate extends Date {}
  scope.Date = FakeDate as DateConstructor;
  moved.setOffset(day);
  expect(scope.Date).toBe(FakeDate);
  expect(moved.offsetMilliseconds).toBe(day);
});

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
    shareProxiesOfPool(() => {}, scope);
    const { construct, lookups } = proxiedClass(scope);
    let object = construct();
    for (let count = 0; count < 100; count++) object = construct();
    const before = lookups();
    expect(object["name"]).toBe("unknown name");
    expect(lookups() - before).toBe(1);
  });

  it("leaves the proxies of scripts alone", () => {
    const scope = { Proxy };
    shareProxiesOfPool(() => {}, scope);
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
