/**
 * The form that edits the metadata of an object: what a person has typed, whether the store would
 * accept it, and the change that it makes. A field that is empty is not set.
 */
import type {
  HttpMetadata,
  MetadataChange,
  ObjectDetails,
  StorageClass,
} from "../../api/buckets.ts";
import { utf8Length } from "../../../store/core/key.ts";
import { metadataBytesMax } from "../../../store/core/limits.ts";

export const textFields = [
  "contentType",
  "contentLanguage",
  "contentDisposition",
  "contentEncoding",
  "cacheControl",
] as const;
export type TextField = (typeof textFields)[number];

export interface MetadataDraft extends Readonly<Record<TextField, string>> {
  /** A date and time in UTC, as the input of a browser has it: `2026-11-16T10:30:00`. */
  readonly cacheExpiry: string;
  readonly custom: readonly CustomPair[];
  readonly storageClass: StorageClass;
}

export interface CustomPair {
  /** Unique in the draft: a name can change while a person types. */
  readonly id: number;
  readonly name: string;
  readonly value: string;
}

/** A form that is open: what the person has typed, and the object that the form began with. */
export interface MetadataEditing {
  readonly base: ObjectDetails;
  readonly draft: MetadataDraft;
}

export function draftOf(details: ObjectDetails): MetadataDraft {
  const { httpMetadata, customMetadata, storageClass } = details;
  const field = (name: TextField): string => httpMetadata[name] ?? "";
  return {
    contentType: field("contentType"),
    contentLanguage: field("contentLanguage"),
    contentDisposition: field("contentDisposition"),
    contentEncoding: field("contentEncoding"),
    cacheControl: field("cacheControl"),
    cacheExpiry: httpMetadata.cacheExpiry === undefined ? "" : expiryText(httpMetadata.cacheExpiry),
    custom: Object.entries(customMetadata).map(([name, value], id) => ({ id, name, value })),
    storageClass,
  };
}

/** Whether the draft says something else than the object. */
export function isChanged(draft: MetadataDraft, details: ObjectDetails): boolean {
  const before = draftOf(details);
  return (
    textFields.some((field) => draft[field] !== before[field]) ||
    draft.cacheExpiry !== before.cacheExpiry ||
    draft.storageClass !== before.storageClass ||
    !hasPairs(draft.custom, before.custom)
  );
}

/**
 * The draft for an object that has changed: what the person has not edited is as the object has it
 * now, and what the person has edited stays. The custom pairs are one field.
 */
export function rebaseDraft(
  draft: MetadataDraft,
  { from, to }: { readonly from: ObjectDetails; readonly to: ObjectDetails },
): MetadataDraft {
  const before = draftOf(from);
  const now = draftOf(to);
  const pick = <Field extends keyof MetadataDraft>(field: Field): MetadataDraft[Field] =>
    draft[field] === before[field] ? now[field] : draft[field];
  return {
    contentType: pick("contentType"),
    contentLanguage: pick("contentLanguage"),
    contentDisposition: pick("contentDisposition"),
    contentEncoding: pick("contentEncoding"),
    cacheControl: pick("cacheControl"),
    cacheExpiry: pick("cacheExpiry"),
    custom: hasPairs(draft.custom, before.custom) ? now.custom : draft.custom,
    storageClass: pick("storageClass"),
  };
}

/** The change that a draft makes of the object. */
export function changeOf(draft: MetadataDraft, details: ObjectDetails): MetadataChange {
  const http: { -readonly [Field in keyof HttpMetadata]: HttpMetadata[Field] } = {};
  for (const field of textFields) {
    if (draft[field] !== "") http[field] = draft[field];
  }
  const expiry = expiryOf(draft, details);
  if (expiry !== null) http.cacheExpiry = expiry;
  return {
    etag: details.etag,
    version: details.version,
    httpMetadata: http,
    customMetadata: Object.fromEntries(draft.custom.map(({ name, value }) => [name, value])),
    storageClass: draft.storageClass,
  };
}

export interface DraftProblems {
  readonly fields: Readonly<Partial<Record<TextField | "cacheExpiry", string>>>;
  /** By the id of the pair. */
  readonly pairs: ReadonlyMap<number, string>;
  readonly whole: string | null;
}

/** What the store would refuse, or could not serve as headers. */
export function draftProblems(draft: MetadataDraft): DraftProblems {
  const fields: Partial<Record<TextField | "cacheExpiry", string>> = {};
  for (const field of textFields) {
    if (/[\r\n\0]/.test(draft[field])) {
      fields[field] = "A header has no line break and no NUL character. Remove them.";
    }
  }
  if (draft.cacheExpiry !== "" && Number.isNaN(parseExpiry(draft.cacheExpiry))) {
    fields.cacheExpiry =
      "The date cannot be read. Write a date and a time, such as 2026-11-16T10:30.";
  }
  const bytes = draftBytes(draft);
  const whole =
    bytes > metadataBytesMax
      ? `The metadata has ${bytes} bytes, with the names. The limit is ${metadataBytesMax} bytes.`
      : null;
  return { fields, pairs: pairProblems(draft.custom), whole };
}

export function hasProblems({ fields, pairs, whole }: DraftProblems): boolean {
  return Object.keys(fields).length > 0 || pairs.size > 0 || whole !== null;
}

/** What the metadata takes of its limit. */
export function draftBytes(draft: MetadataDraft): number {
  let bytes = 0;
  for (const field of textFields) bytes += utf8Length(draft[field]);
  for (const { name, value } of draft.custom) bytes += utf8Length(name) + utf8Length(value);
  return bytes;
}

function pairProblems(custom: readonly CustomPair[]): ReadonlyMap<number, string> {
  const problems = new Map<number, string>();
  const names = new Set<string>();
  for (const { id, name } of custom) {
    if (name === "") problems.set(id, "The pair has no name. Write a name, or remove the pair.");
    else if (names.has(name))
      problems.set(id, "Another pair has this name. Change one of the names.");
    names.add(name);
  }
  return problems;
}

/** The expiry that the object has keeps its milliseconds, which the input does not show. */
function expiryOf(draft: MetadataDraft, { httpMetadata }: ObjectDetails): number | null {
  const { cacheExpiry } = httpMetadata;
  if (cacheExpiry !== undefined && draft.cacheExpiry === expiryText(cacheExpiry))
    return cacheExpiry;
  return draft.cacheExpiry === "" ? null : parseExpiry(draft.cacheExpiry);
}

function parseExpiry(text: string): number {
  return Date.parse(`${text}Z`);
}

function expiryText(milliseconds: number): string {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, -".000Z".length);
}

function hasPairs(one: readonly CustomPair[], other: readonly CustomPair[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ name, value }, index) => {
      const pair = other[index];
      return pair !== undefined && pair.name === name && pair.value === value;
    })
  );
}
