/**
 * What commands print: the result on standard output, remarks on standard error.
 *
 * The reader of a pipe may end before the command, as `head` does. Then the command ends too, and
 * says nothing: the next `print()` throws.
 */
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
  process.stdout.write(`${isJson ? JSON.stringify(value) : text}\n`);
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
  process.stderr.write(`${text}\n`);
}
