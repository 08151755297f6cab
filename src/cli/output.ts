/** What commands print: the result on standard output, remarks on standard error. */
import type { Invocation } from "./command.ts";

/** Prints the result: `value` as JSON with `--json`, otherwise `text`. Empty text prints nothing. */
export function print({ options }: Invocation, value: unknown, text: string): void {
  const isJson = options["json"] === true;
  if (!isJson && text === "") return;
  process.stdout.write(`${isJson ? JSON.stringify(value) : text}\n`);
}

export function printRemark(text: string): void {
  process.stderr.write(`${text}\n`);
}
