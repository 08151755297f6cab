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

const quotedText = String.raw`"(?:[^"\\\n]|\\[^\n])*"`;
/** A word may contain quoted parts: alpn="h3,h2" is a single word. */
const word = String.raw`(?:[^\s"\\;()]|\\[^\n]|(?<=[^\s;()])${quotedText})+`;
const lexemes = new RegExp(String.raw`[\n()]|[ \t\r\f\v]+|;[^\n]*|${quotedText}|${word}`, "y");

/**
 * Throws ScanError at the first malformed line.
 *
 * @param report receives the malformed lines instead; the scan continues after them
 */
export function* scanLines(
  text: string,
  report: (error: ScanError) => void = fail,
): Generator<LogicalLine> {
  const source = text.replace(/^\uFEFF/, "");
  let tokens: Token[] = [];
  let comment: string | null = null;
  let lineNumber = 1;
  let firstLine = 1;
  let depth = 0;
  let startsBlank = false;
  let at = 0;
  let lineStart = 0;
  while (at < source.length) {
    const start = at;
    lexemes.lastIndex = at;
    const lexeme = lexemes.exec(source)?.[0];
    if (lexeme === undefined) {
      report(new ScanError(lineNumber, "a quotation mark is not closed"));
      const end = source.indexOf("\n", at);
      at = end < 0 ? source.length : end;
      tokens = [];
      continue;
    }
    at += lexeme.length;
    switch (lexeme.charAt(0)) {
      case "\n":
        if (depth === 0) {
          if (tokens.length > 0) yield { tokens, comment, number: firstLine, startsBlank };
          tokens = [];
          comment = null;
          firstLine = lineNumber + 1;
          startsBlank = false;
        }
        lineNumber += 1;
        lineStart = at;
        break;
      case "(":
        depth += 1;
        break;
      case ")":
        depth -= 1;
        if (depth < 0) {
          report(new ScanError(lineNumber, "a parenthesis is closed that was not opened"));
          [depth, tokens] = [0, []];
        }
        break;
      case ";":
        comment = lexeme.slice(1).trim();
        break;
      case '"':
        tokens.push({ text: lexeme.slice(1, -1), quoted: true });
        break;
      default:
        if (lexeme.trim() !== "") tokens.push({ text: lexeme, quoted: false });
        else if (start === lineStart && depth === 0) startsBlank = true;
    }
  }
  if (depth > 0) report(new ScanError(firstLine, "a parenthesis is not closed"));
  else if (tokens.length > 0) yield { tokens, comment, number: firstLine, startsBlank };
}

function fail(error: ScanError): never {
  throw error;
}

/** The words of a record's content, which has neither comments nor parentheses. */
export function splitTokens(content: string): readonly Token[] {
  const [line] = scanLines(content);
  return line?.tokens ?? [];
}
