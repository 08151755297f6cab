/**
 * The lexical level of presentation format (RFC 1035 section 5.1): logical lines of words.
 * Parentheses join lines, `;` starts a comment, and both are literal between quotation marks.
 */
export interface Token {
  /** With escapes; each field resolves the escapes that it allows. */
  readonly text: string;
  readonly quoted: boolean;
}

export interface LogicalLine {
  readonly tokens: readonly Token[];
  /** The last comment of the line; an export writes the record's comment there. */
  readonly comment: string | null;
  readonly number: number;
  /** A line that starts with a blank has the owner of the preceding line. */
  readonly startsBlank: boolean;
}

export class ScanError extends Error {
  override name = "ScanError";
  readonly line: number;
  constructor(line: number, reason: string) {
    super(reason);
    this.line = line;
  }
}

const quotedPattern = /"((?:[^"\\\n]|\\[^\n])*)"/y;
/** A word may contain quoted parts: alpn="h3,h2" is a single word. */
const wordPattern = /(?:[^\s"\\;()]|\\[^\n]|(?<=[^\s;()])"(?:[^"\\\n]|\\[^\n])*")+/y;
const blanksPattern = /[ \t\r\f\v]+/y;
const commentPattern = /;([^\n]*)/y;

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

export function* scanLines(text: string): Generator<LogicalLine> {
  let tokens: Token[] = [];
  let comment: string | null = null;
  let lineNumber = 1;
  let firstLine = 1;
  let depth = 0;
  let startsBlank = false;
  let at = text.startsWith("\uFEFF") ? 1 : 0;
  let lineStart = at;
  while (at < text.length) {
    const character = text[at]!;
    if (character === "\n") {
      if (depth === 0) {
        if (tokens.length > 0) yield { tokens, comment, number: firstLine, startsBlank };
        tokens = [];
        comment = null;
        firstLine = lineNumber + 1;
        startsBlank = false;
      }
      lineNumber += 1;
      at += 1;
      lineStart = at;
      continue;
    }
    const blanks = matchAt(blanksPattern, text, at);
    if (blanks !== null) {
      if (at === lineStart && depth === 0) startsBlank = true;
      at += blanks[0].length;
      continue;
    }
    if (character === "(" || character === ")") {
      depth += character === "(" ? 1 : -1;
      if (depth < 0) throw new ScanError(lineNumber, "a parenthesis is closed that was not opened");
      at += 1;
      continue;
    }
    const remark = matchAt(commentPattern, text, at);
    if (remark !== null) {
      comment = remark[1]!.trim();
      at += remark[0].length;
      continue;
    }
    const quoted = matchAt(quotedPattern, text, at);
    const word = quoted ?? matchAt(wordPattern, text, at);
    if (word === null) throw new ScanError(lineNumber, "a quotation mark is not closed");
    tokens.push({ text: quoted === null ? word[0] : quoted[1]!, quoted: quoted !== null });
    at += word[0].length;
  }
  if (depth > 0) throw new ScanError(firstLine, "a parenthesis is not closed");
  if (tokens.length > 0) yield { tokens, comment, number: firstLine, startsBlank };
}

/** The words of a record's content, which has neither comments nor parentheses. */
export function splitTokens(content: string): readonly Token[] {
  const [line] = scanLines(content);
  return line?.tokens ?? [];
}
