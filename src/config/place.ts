/** Where something stands in a configuration file, so that a message can say it. */

/** The keys and indices that lead to a value: `["store_buckets", 0, "binding"]`. */
export type Path = readonly (string | number)[];

/** Both counted from 1, as editors do. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}

/** As a message names it: `store_buckets[0].binding`. */
export function fieldName(path: Path): string {
  return path.reduce<string>((name, step) => {
    if (typeof step === "number") return `${name}[${step}]`;
    return name === "" ? step : `${name}.${step}`;
  }, "");
}
