/**
 * The statements of an SQL file. D1 takes at most 100 KB of SQL at a time, and does not say in which line of
 * the SQL a mistake is. So the file is sent in its statements.
 */

export interface SqlStatement {
  /** Without the semicolon. */
  readonly text: string;
  /** The line of its first character, from 1. */
  readonly line: number;
}

/** What can hold a semicolon that ends no statement; and the semicolon. An open text ends with the file. */
const tokens =
  /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*[^]*?(?:\*\/|$)|;/g;
const comments = /^(?:\s+|--[^\n]*|\/\*[^]*?(?:\*\/|$))+/;
const trigger = /^create\s+(?:temp(?:orary)?\s+)?trigger\b/i;
const triggerEnd = /;\s*end\s*$/i;
/** A dump of SQLite is one transaction. D1 refuses these statements, and runs a file as one transaction. */
const transaction =
  /^(?:begin(?:\s+(?:deferred|immediate|exclusive))?(?:\s+transaction)?|(?:commit|end)(?:\s+transaction)?)$/i;
const foreignKeysOff = /^pragma\s+foreign_keys\s*=\s*(?:off|0|false|no)$/i;

export function splitStatements(sql: string): SqlStatement[] {
  const statements: SqlStatement[] = [];
  let start = 0;
  let line = 1;
  const add = (end: number): void => {
    const part = sql.slice(start, end);
    const text = part.replace(comments, "");
    const before = part.slice(0, part.length - text.length);
    const statement = { text: text.trimEnd(), line: line + lineBreaks(before) };
    if (foreignKeysOff.test(statement.text)) {
      statements.push({ ...statement, text: "PRAGMA defer_foreign_keys = TRUE" });
    } else if (statement.text !== "" && !transaction.test(statement.text)) {
      statements.push(statement);
    }
    line += lineBreaks(part);
    start = end + 1;
  };
  for (const { 0: token, index } of sql.matchAll(tokens)) {
    if (token !== ";") continue;
    const text = sql.slice(start, index).replace(comments, "");
    // The statements of a trigger end with semicolons, too.
    if (!trigger.test(text) || triggerEnd.test(text)) add(index);
  }
  add(sql.length);
  return statements;
}

function lineBreaks(text: string): number {
  return text.split("\n").length - 1;
}
