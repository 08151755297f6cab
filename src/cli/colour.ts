/**
 * Colours, on a terminal only: Node's rule, with NO_COLOR and FORCE_COLOR. A file, a pipe and the log
 * of a continuous integration get plain text.
 */
import { format, stripVTControlCharacters, styleText } from "node:util";

export function bold(text: string): string {
  return styleText("bold", text, { stream: process.stdout });
}

export function red(text: string): string {
  return styleText("red", text, { stream: process.stderr });
}

/**
 * Removes the colours of what other code writes to the console where colours are not wanted: wrangler
 * always colours the errors of its bundler. What a script writes does not pass the console.
 */
export function keepConsolePlain(): void {
  for (const method of ["log", "info", "debug", "warn", "error"] as const) {
    const stream = method === "warn" || method === "error" ? process.stderr : process.stdout;
    if (styleText("red", "x", { stream }) !== "x") continue;
    const write = console[method].bind(console);
    console[method] = (...values: unknown[]) =>
      write("%s", stripVTControlCharacters(format(...values)));
  }
}
