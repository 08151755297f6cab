/** `.gitignore` of an existing project: the state, and the files that Ledge derives for wrangler. */

const derivedFiles = ".ledge-*.wrangler.json";

/**
 * @param text `null` without a file
 * @param inherited the texts of files in folders above, which also hold
 */
export function editGitignore(text: string | null, inherited: readonly string[]): string | null {
  const lines = [text ?? "", ...inherited].join("\n").split(/\r?\n/);
  const has = (pattern: RegExp): boolean => lines.some((line) => pattern.test(line.trim()));
  const missing = [
    ...(has(/^(?:\*\*)?\/?\.wrangler\/?\*{0,2}$/) ? [] : [".wrangler/"]),
    ...(has(/^\/?\.ledge-\*/) ? [] : [derivedFiles]),
  ];
  if (missing.length === 0) return text;
  const eol = text?.includes("\r\n") === true ? "\r\n" : "\n";
  const start = text === null || text === "" || text.endsWith("\n") ? (text ?? "") : text + eol;
  return start + missing.map((line) => line + eol).join("");
}
