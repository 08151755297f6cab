/**
 * Keys that no other test uses, also when a watching runner runs the file again. None is the
 * beginning of another, so that a test may list by its own.
 */
let run: string | undefined;
let count = 0;

export function freshKey(label: string): string {
  run ??= crypto.randomUUID().slice(0, 8);
  count += 1;
  return `${label}-${run}-${String(count).padStart(5, "0")}`;
}
