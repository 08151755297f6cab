/**
 * Sees when a script or a test uses a binding whose calls are not watched: workflows, images, limits of rates, and
 * bindings of a class that is not known. What such a call writes is not known either.
 */
import type { IsolationLayers } from "./isolation-layers.ts";

type Touched = Pick<IsolationLayers, "touch" | "touchAlways">;

/** The classes of bindings that are watched, or that belong to the pool. */
const watchedClasses: ReadonlySet<string> = new Set([
  "KvNamespace",
  "D1Database",
  "R2Bucket",
  "DurableObjectNamespace",
  "StoreBucket",
  "Fetcher",
  "WorkerQueue",
  "ColoLocalActorNamespace",
  "UnsafeEval",
]);

/** The classes whose methods return no other objects of the binding. */
const flatClasses: ReadonlySet<string> = new Set(["Ratelimit", "AnalyticsEngine"]);

const ownNames = /^(?:__VITEST|LEDGE)_/;

export function touchBeforeUse(env: Readonly<Record<string, unknown>>, layers: Touched): void {
  for (const [name, value] of Object.entries(env)) {
    if (ownNames.test(name) || typeof value !== "object" || value === null) continue;
    const prototype = Object.getPrototypeOf(value) as object | null;
    // Variables in JSON are plain objects and lists.
    if (prototype === null || prototype === Object.prototype || Array.isArray(value)) continue;
    const { name: className } = prototype.constructor;
    if (watchedClasses.has(className)) continue;
    watchProperties(value, prototype, () => {
      // Objects that a binding returns can write later, and their calls are not seen.
      if (flatClasses.has(className)) layers.touch();
      else layers.touchAlways();
    });
  }
}

/** What a binding has can be known to the runtime alone, so the use of a name is what can be seen. */
function watchProperties(binding: object, prototype: object, onUse: () => void): void {
  const watched: object = new Proxy(Object.create(prototype) as object, {
    get(target, property, receiver) {
      if (receiver !== binding || typeof property === "symbol" || property === "constructor") {
        return Reflect.get(target, property, receiver) as unknown;
      }
      onUse();
      // The runtime makes a method for an object whose prototype is its own.
      Object.setPrototypeOf(binding, prototype);
      try {
        return Reflect.get(binding, property) as unknown;
      } finally {
        Object.setPrototypeOf(binding, watched);
      }
    },
  });
  Object.setPrototypeOf(binding, watched);
}
