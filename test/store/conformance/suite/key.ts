/**
 * Keys that no other test uses, also when vitest runs the file again in watch mode. No key is a
 * prefix of another, so a test can list by its own key.
 */
let run: string | undefined;
let count = 0;

export function freshKey(label: string): string {
  run ??= crypto.randomUUID().slice(0, 8);
  count += 1;
  return `${label}-${run}-${String(count).padStart(5, "0")}`;
}
