/**
 * What commands print: the result on standard output, remarks on standard error. Colours are for a
 * terminal only: Node's rule, with NO_COLOR and FORCE_COLOR.
 *
 * The reader of a pipe may end before the command, as `head` does. Then the command ends too, and
 * says nothing: the next `print()` throws.
 *
 * Keys and metadata can hold any character. On a terminal, control characters are escaped; a program that
 * reads the output gets them as they are.
 */
import { createInterface } from "node:readline/promises";
import { format, stripVTControlCharacters, styleText } from "node:util";
import { escapeControls } from "../base/format.ts";
import type { Invocation } from "./command.ts";

/** Standard output is a pipe whose reader has ended. */
export class OutputClosedError extends Error {
  override readonly name = "OutputClosedError";
}

let isClosed = false;

/** Without a listener, an error of an output stream ends the process with a stack. */
export function watchOutput(): void {
  process.stdout.on("error", () => (isClosed = true));
  process.stderr.on("error", () => {});
}

/** Prints the result: `value` as JSON with `--json`, otherwise `text`. Empty text prints nothing. */
export function print({ options }: Invocation, value: unknown, text: string): void {
  if (isClosed) throw new OutputClosedError();
  const isJson = options["json"] === true;
  if (!isJson && text === "") return;
  // JSON leaves some control characters as they are.
  const line = isJson ? shown(JSON.stringify(value)) : plainLines(text, process.stdout);
  process.stdout.write(`${line}\n`);
}

/** A value, such as a key, as a part of a result: on a terminal without control characters. */
export function shown(value: string): string {
  return process.stdout.isTTY ? escapeControls(value) : value;
}

/** Lines of text, on a terminal without other control characters. */
export function plainLines(text: string, stream: NodeJS.WriteStream): string {
  return stream.isTTY ? escapeControls(text, "\n\t") : text;
}

/** Settles when the bytes are written, so that the caller can use their memory again. */
export async function writeOutput(bytes: Uint8Array): Promise<void> {
  const error = await new Promise<Error | null | undefined>((resolve) =>
    process.stdout.write(bytes, resolve),
  );
  if (error == null) return;
  if ((error as NodeJS.ErrnoException).code === "EPIPE") throw new OutputClosedError();
  throw error;
}

export function printRemark(text: string): void {
  process.stderr.write(`${plainLines(text, process.stderr)}\n`);
}

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

/** Asks a question on the terminal. Anything but "y" or "yes" is a no, and so is the end of the input. */
export async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // While the terminal is read, Ctrl-C is a key. The question itself has no end without an answer.
  terminal.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const closed = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  try {
    const answer = await Promise.race([terminal.question(`${question} [y/N] `), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
