/**
 * Patterns of keys and paths: text in which `*` stands for any characters, or a regular expression.
 *
 * RPC and Miniflare's proxy do not carry a `RegExp`, so a pattern travels as a `PlainPattern`.
 */
export type TextPattern = string | RegExp;

export interface PlainPattern {
  readonly source: string;
  readonly flags: string;
}

export function toPlainPattern(pattern: TextPattern): PlainPattern {
  // The flags `g` and `y` would make a match depend on the match before it.
  if (pattern instanceof RegExp) {
    return { source: pattern.source, flags: pattern.flags.replaceAll(/[gy]/g, "") };
  }
  const parts = pattern.split("*").map((part) => part.replaceAll(/[\\^$.+?()[\]{}|]/g, "\\$&"));
  return { source: `^${parts.join(".*")}$`, flags: "s" };
}

export function matchesPattern({ source, flags }: PlainPattern, text: string): boolean {
  return new RegExp(source, flags).test(text);
}
