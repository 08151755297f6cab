/**
 * What the platform does with arguments before a method sees them: how it converts them, what it
 * refuses, and the words it uses. (Web IDL conversions, as workerd's own bindings apply them.)
 */

/** @throws TypeError when fewer arguments were given than the method needs */
export function requireArguments(
  given: IArguments,
  method: string,
  types: readonly string[],
): void {
  const missing = types[given.length];
  if (missing !== undefined) throw argumentError(method, given.length + 1, missing);
}

/** @param method the class and the method: `StoreBucket.head` */
export function argumentError(method: string, position: number, type: string): TypeError {
  const [owner, name] = method.split(".");
  return new TypeError(
    `Failed to execute '${name}' on '${owner}': parameter ${position} is not of type '${type}'.`,
  );
}

export function fieldError(struct: string, field: string, type: string): TypeError {
  return new TypeError(
    `Incorrect type for the '${field}' field on '${struct}': ` +
      `the provided value is not of type '${type}'.`,
  );
}

/** Text as a DOMString without lone surrogates. A symbol throws, as everywhere in the language. */
export function toText(value: unknown): string {
  // oxlint-disable-next-line typescript/no-unnecessary-template-expression -- String() takes symbols
  return `${value as string}`.toWellFormed();
}

/** A number, as the language converts to one. A symbol and a BigInt throw. */
export function toNumber(value: unknown): number {
  // Not `Number(value)`, which takes a BigInt.
  return +(value as object);
}

/** A number as a 32-bit integer. */
export function toInteger(value: unknown): number {
  const number = Math.trunc(toNumber(value));
  if (Math.abs(number) > 2147483647 && number !== -2147483648 && Number.isFinite(number)) {
    throw new TypeError(
      "Value out of range. Must be between -2147483648 and 2147483647 (inclusive).",
    );
  }
  return Number.isFinite(number) ? number + 0 : 0;
}

/** Options: an object, or nothing. */
export function toOptions(
  value: unknown,
  method: string,
  position: number,
  type: string,
): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw argumentError(method, position, type);
  return value;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** In Node there are several classes of this name: its own, and those that libraries bring. */
export function isHeaders(value: unknown): value is Headers {
  return value instanceof Headers || Object.prototype.toString.call(value) === "[object Headers]";
}

/** Text that must be given as text. */
export function textField(
  options: Record<string, unknown>,
  struct: string,
  field: string,
): string | undefined {
  const value = options[field];
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw fieldError(struct, field, "string");
  return value.toWellFormed();
}

/** A date, or a number of milliseconds since the epoch. */
export function dateField(
  options: Record<string, unknown>,
  struct: string,
  field: string,
): number | undefined {
  const value = options[field];
  if (value === undefined) return undefined;
  if (!(value instanceof Date) && typeof value !== "number") {
    throw fieldError(struct, field, "date");
  }
  const time = value.valueOf();
  if (!Number.isFinite(time)) {
    throw new TypeError("The value cannot be converted because it is not a valid Date.");
  }
  if (time >= lateDate) throw new TypeError("This API doesn't support dates after 2189.");
  return Math.trunc(time);
}

const lateDate = Date.UTC(2190, 0);
