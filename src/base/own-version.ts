/** The version of this package. */
import { readFileSync } from "node:fs";

export function packageVersion(): string {
  const path = new URL(import.meta.resolve("ledge/package.json"));
  return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
}
