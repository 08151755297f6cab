/**
 * Patterns of keys: text with `*` for any run of characters, or a regular expression. They travel
 * as plain data, which a `RegExp` is not everywhere.
 */
export type KeyPattern = string | RegExp;

export interface PlainPattern {
  readonly source: string;
  readonly flags: string;
}

export function toPlainPattern(pattern: KeyPattern): PlainPattern {
  // Without what makes an expression remember where it was.
  if (pattern instanceof RegExp) {
    return { source: pattern.source, flags: pattern.flags.replaceAll(/[gy]/g, "") };
  }
  const parts = pattern.split("*").map((part) => part.replaceAll(/[\\^$.+?()[\]{}|]/g, "\\$&"));
  return { source: `^${parts.join(".*")}$`, flags: "s" };
}

export function matchesPattern({ source, flags }: PlainPattern, key: string): boolean {
  return new RegExp(source, flags).test(key);
}
