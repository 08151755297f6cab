/** Names of all record types that occur in zones, including types that the record API lacks. */
import { typeCode, typeName } from "../record/presentation.ts";

/** From IANA's registry of DNS parameters. */
const otherTypeCodes: Readonly<Record<string, number>> = {
  RP: 17,
  AFSDB: 18,
  KX: 36,
  DNAME: 39,
  NSEC3: 50,
  NSEC3PARAM: 51,
  CSYNC: 62,
  ZONEMD: 63,
  SPF: 99,
  EUI48: 108,
  EUI64: 109,
};
const otherTypes = new Map(Object.entries(otherTypeCodes).map(([name, code]) => [code, name]));

export const otherTypeNames: readonly string[] = Object.keys(otherTypeCodes);

/** The name, or `TYPE` and the number. */
export function nameOfType(code: number): string {
  return otherTypes.get(code) ?? typeName(code);
}

/** Returns `null` when the word is not a type. */
export function codeOfType(word: string): number | null {
  return otherTypeCodes[word.toUpperCase()] ?? typeCode(word);
}
