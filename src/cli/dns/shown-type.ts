/** Names of types for people: also of those that the record API does not have. */
import { typeCode, typeName } from "../../dns/record/presentation.ts";

/** IANA's registry; what is found in zones, and no more. */
const others: Readonly<Record<string, number>> = {
  RP: 17,
  AFSDB: 18,
  KX: 36,
  DNAME: 39,
  RRSIG: 46,
  NSEC: 47,
  NSEC3: 50,
  NSEC3PARAM: 51,
  CDS: 59,
  CDNSKEY: 60,
  CSYNC: 62,
  ZONEMD: 63,
  SPF: 99,
  EUI48: 108,
  EUI64: 109,
};
const named = new Map(Object.entries(others).map(([name, code]) => [code, name]));

export function shownType(code: number): string {
  return named.get(code) ?? typeName(code);
}

/** `null` when the word is no type. */
export function askedType(word: string): number | null {
  return others[word.toUpperCase()] ?? typeCode(word);
}

export const otherTypes: readonly string[] = Object.keys(others);
