/**
 * The canonical form and order of RFC 4034 section 6, in which names and records are signed: names
 * without compression and in lower case, the records of a set in the order of their octets.
 */
import { lowerCase } from "../wire/name-key.ts";
import { nameLayouts } from "../wire/rdata-names.ts";

/** Length octets are below 64 and thus not letters: the table leaves them unchanged. */
export function canonicalName(name: Uint8Array): Uint8Array {
  const canonical = new Uint8Array(name.length);
  for (let at = 0; at < name.length; at++) canonical[at] = lowerCase[name[at]!]!;
  return canonical;
}

/**
 * Section 6.2: the names in the data of certain types are in lower case. RFC 6840 section 5.1 takes
 * NSEC and RRSIG from that list; the other types are those whose names a receiver decompresses.
 */
export function canonicalData(type: number, data: Uint8Array): Uint8Array {
  const layout = nameLayouts.get(type);
  if (layout === undefined) return data;
  const canonical = Uint8Array.from(data);
  let at = layout.head;
  for (let count = 0; count < layout.strings; count++) at += data[at]! + 1;
  for (let count = 0; count < layout.names; count++) {
    const start = at;
    while (data[at]! > 0) at += data[at]! + 1;
    at += 1;
    canonical.set(canonicalName(data.subarray(start, at)), start);
  }
  return canonical;
}

/** Section 6.3: as strings of octets without sign; a string precedes the strings that it begins. */
export function compareOctets(one: Uint8Array, other: Uint8Array): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    if (one[at] !== other[at]) return one[at]! - other[at]!;
  }
  return one.length - other.length;
}

/** The records of a set as they are signed: in canonical order, equal records once. */
export function canonicalSet(type: number, data: readonly Uint8Array[]): Uint8Array[] {
  return data
    .map((each) => canonicalData(type, each))
    .toSorted(compareOctets)
    .filter((each, at, all) => at === 0 || compareOctets(each, all[at - 1]!) !== 0);
}

/** Section 6.1: label by label from the root, in lower case. */
export function compareNames(one: Uint8Array, other: Uint8Array): number {
  const labelsOfOne = labelsFromRoot(one);
  const labelsOfOther = labelsFromRoot(other);
  for (const [index, label] of labelsOfOne.entries()) {
    const against = labelsOfOther[index];
    if (against === undefined) return 1;
    const order = compareOctets(label, against);
    if (order !== 0) return order;
  }
  return labelsOfOne.length - labelsOfOther.length;
}

function labelsFromRoot(name: Uint8Array): Uint8Array[] {
  const canonical = canonicalName(name);
  const labels: Uint8Array[] = [];
  for (let at = 0; canonical[at]! > 0; at += canonical[at]! + 1) {
    labels.unshift(canonical.subarray(at + 1, at + 1 + canonical[at]!));
  }
  return labels;
}
