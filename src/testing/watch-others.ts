/**
 * Sees when a script or a test uses a binding whose calls are not watched: workflows, images, limits of rates, and
 * bindings of a class that is not known. What such a call writes is not known either.
 */
import type { IsolationLayers } from "./isolation-layers.ts";
import { internalName, kindOf, readWith } from "./watch-bindings.ts";

type Touched = Pick<IsolationLayers, "touch" | "touchAlways">;

/** Buckets have an observer, and the other two belong to the pool. */
const knownClasses: ReadonlySet<string> = new Set([
  "StoreBucket",
  "ColoLocalActorNamespace",
  "UnsafeEval",
]);

/** The classes whose methods return no other objects of the binding. */
const flatClasses: ReadonlySet<string> = new Set(["Ratelimit", "AnalyticsEngine"]);

export function touchBeforeUse(env: Readonly<Record<string, unknown>>, layers: Touched): void {
  for (const [name, value] of Object.entries(env)) {
    if (internalName.test(name) || typeof value !== "object" || value === null) continue;
    const prototype = Object.getPrototypeOf(value) as object | null;
    // Variables in JSON are plain objects and lists.
    if (prototype === null || prototype === Object.prototype || Array.isArray(value)) continue;
    const { name: className } = prototype.constructor;
    if (kindOf(name, value) !== undefined || knownClasses.has(className)) continue;
    watchProperties(value, prototype, () => {
      // Objects that a binding returns can write later, and their calls are not seen.
      if (flatClasses.has(className)) layers.touch();
      else layers.touchAlways();
    });
  }
}

/** What a binding has can be known to the runtime alone, so the use of a name is what can be seen. */
function watchProperties(binding: object, prototype: object, onUse: () => void): void {
  const watched = new Proxy(Object.create(prototype) as object, {
    get(target, property, receiver) {
      if (receiver !== binding || typeof property === "symbol" || property === "constructor") {
        return Reflect.get(target, property, receiver) as unknown;
      }
      onUse();
      return readWith(prototype, binding, property);
    },
  });
  Object.setPrototypeOf(binding, watched);
}
