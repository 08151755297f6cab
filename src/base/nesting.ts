/**
 * How deep objects and lists are nested. Parsers, serializers and checks call themselves for each
 * level, and run out of stack somewhere above a thousand levels, each at another number. So input
 * has a limit, checked before any of them sees the input.
 */

/** Far more than any request or configuration needs, and far less than any parser survives. */
export const nestingLevelsMax = 100;

/**
 * @param text JSON, also with comments; other text gives any result, and its parser refuses it
 * @returns the offset of the bracket that opens one level too many; `null` when there is none
 */
export function findExcessiveNesting(text: string, levelsMax = nestingLevelsMax): number | null {
  // Each level needs at least a bracket.
  if (text.length <= levelsMax) return null;
  let levels = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at] as string) {
      case "{":
      case "[":
        levels += 1;
        if (levels > levelsMax) return at;
        break;
      case "}":
      case "]":
        levels -= 1;
        break;
      case '"':
        at = endOfString(text, at);
        break;
      case "/":
        at = endOfComment(text, at);
        break;
      default:
    }
  }
  return null;
}

/** Brackets in strings and comments do not count. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end > 0; end = text.indexOf('"', end + 1)) {
    let escapes = end;
    while (text[escapes - 1] === "\\") escapes -= 1;
    // An escaped backslash does not escape the quotation mark.
    if ((end - escapes) % 2 === 0) return end;
  }
  return text.length;
}

function endOfComment(text: string, start: number): number {
  const end = { "/": "\n", "*": "*/" }[text[start + 1] as string];
  if (end === undefined) return start;
  const found = text.indexOf(end, start + 2);
  return found < 0 ? text.length : found + end.length - 1;
}

/** For a value that is parsed already. */
export function isNestedTooDeep(value: unknown, levelsMax = nestingLevelsMax): boolean {
  let level = [value].filter(isContainer);
  for (let count = 0; count < levelsMax && level.length > 0; count++) {
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return level.length > 0;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
