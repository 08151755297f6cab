/** What the platform says when a method is taken off its object. It throws, and never rejects. */
export function requireOwner(owned: boolean): void {
  if (owned) return;
  throw new TypeError(
    "Illegal invocation: function called with incorrect `this` reference. " +
      "Call it as a method: env.BUCKET.get(key).",
  );
}
