/** What the commands print: JSON if so asked, text otherwise. */
import type { Invocation } from "../command.ts";

export function print({ options }: Invocation, value: unknown, text: string): void {
  const isJson = options["json"] === true;
  if (!isJson && text === "") return;
  process.stdout.write(`${isJson ? JSON.stringify(value) : text}\n`);
}

/** What is worth knowing and was not asked for. */
export function remark(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function textOption({ options }: Invocation, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}
