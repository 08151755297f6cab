/**
 * Random inputs for the commands of the AWS SDK, from the schemas that the SDK serialises with. A schema is
 * a number for a simple type, or a tuple: `[kind, namespace, name, traits, …]`, where a structure has the
 * names and the schemas of its members, the required ones first.
 */
import * as fc from "fast-check";

type Schema = number | (() => Schema) | readonly unknown[];

const depthMax = 4;
/** Values that some member has a meaning for, and that every header can have. */
const text = fc.constantFrom("a", "1", "null", "true", "private", "AES256", "CRC32", "COPY", "url");

/** By the numbers of the SDK's simple types; 64 and 128 are lists and maps of them. */
const simpleValues: Readonly<Record<number, fc.Arbitrary<unknown>>> = {
  0: text,
  1: fc.nat(3),
  2: fc.boolean(),
  4: fc.date({ min: new Date(0), max: new Date("2030-01-01"), noInvalidDate: true }),
  21: fc.constant(Buffer.from("body")),
  42: fc.constant(Buffer.from("body")),
};

interface Members {
  /** The values of members that name what the test has prepared. */
  readonly fixed: Readonly<Record<string, unknown>>;
  /** Structures have their required members only, or some of the others as well. */
  readonly requiredOnly: boolean;
}

export function randomInput(schema: Schema, members: Members): fc.Arbitrary<object> {
  return randomValue(schema, members, 0) as fc.Arbitrary<object>;
}

function randomValue(schema: Schema, options: Members, depth: number): fc.Arbitrary<unknown> {
  if (typeof schema === "function") return randomValue(schema(), options, depth);
  if (typeof schema === "number") return randomSimple(schema);
  const [kind, namespace] = schema;
  // A member: its schema, and how it is sent.
  if (typeof namespace !== "string") return randomValue(kind as Schema, options, depth);
  const inner = (each: unknown) => randomValue(each as Schema, options, depth + 1);
  const few = depth < depthMax ? { minLength: 1, maxLength: 2 } : { maxLength: 0 };
  const [, , , , first, second, required] = schema;
  if (kind === 0) return inner(first);
  if (kind === 1) return fc.array(inner(first), few);
  if (kind === 2) return fc.dictionary(text, inner(second), { maxKeys: 2 });
  const names = first as string[];
  const members = (second as unknown[]).map((member, index) => {
    const name = names[index] as string;
    const { [name]: value } = options.fixed;
    return [name, value === undefined ? inner(member) : fc.constant(value)] as const;
  });
  if (kind === 4) {
    return fc.oneof(...members.map(([name, value]) => value.map((each) => ({ [name]: each }))));
  }
  const requiredKeys = names.slice(0, (required as number | undefined) ?? 0);
  const isShort = options.requiredOnly || depth >= depthMax;
  const given = isShort ? members.slice(0, requiredKeys.length) : members;
  return fc.record(Object.fromEntries(given), { requiredKeys });
}

function randomSimple(type: number): fc.Arbitrary<unknown> {
  if (type >= 128) return fc.dictionary(fc.constantFrom("a", "b"), randomSimple(type - 128));
  if (type >= 64) return fc.array(randomSimple(type - 64), { minLength: 1, maxLength: 2 });
  // Of the timestamps, which differ in how they are written.
  const value = simpleValues[type >= 4 && type <= 7 ? 4 : type];
  if (value === undefined) throw new Error(`No value for the type ${type} of the SDK`);
  return value;
}
