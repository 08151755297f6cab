/** What a person types into the form of the metadata, and the change that it makes. */
import type {
  HttpMetadata,
  MetadataChange,
  ObjectDetails,
  StorageClass,
} from "../../api/buckets.ts";

type HttpField = Exclude<keyof HttpMetadata, "cacheExpiry">;

export const httpFields: readonly (readonly [field: HttpField, label: string])[] = [
  ["contentType", "Content type"],
  ["contentLanguage", "Content language"],
  ["contentDisposition", "Content disposition"],
  ["contentEncoding", "Content encoding"],
  ["cacheControl", "Cache control"],
];

/** What a person has typed. A field that is empty is not set. */
export interface MetadataDraft {
  readonly texts: Readonly<Partial<Record<HttpField, string>>>;
  /** A date and time in UTC, as the input of a browser has it: `2026-11-16T10:30:00.000`. */
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

export function draftOf(details: ObjectDetails): MetadataDraft {
  const { cacheExpiry, ...texts } = details.httpMetadata;
  const expiry = new Date(cacheExpiry ?? Number.NaN);
  const pairs = Object.entries(details.customMetadata);
  return {
    texts,
    // The store keeps numbers that are no date.
    cacheExpiry: Number.isNaN(expiry.getTime()) ? "" : expiry.toISOString().slice(0, -1),
    custom: pairs.map(([name, value], id) => ({ id, name, value })),
    storageClass: details.storageClass,
  };
}

/** @throws Error that says what is wrong with the names of the pairs */
export function changeOf(draft: MetadataDraft, { etag, version }: ObjectDetails): MetadataChange {
  const names = draft.custom.map(({ name }) => name);
  if (names.includes("")) throw new Error("A pair has no name. Write a name, or remove the pair.");
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new Error(`Two pairs have the name "${twice}". Change one of the names.`);
  }
  return {
    etag,
    version,
    httpMetadata: {
      ...Object.fromEntries(Object.entries(draft.texts).filter(([, text]) => text !== "")),
      ...(draft.cacheExpiry !== "" && { cacheExpiry: Date.parse(`${draft.cacheExpiry}Z`) }),
    },
    customMetadata: Object.fromEntries(draft.custom.map(({ name, value }) => [name, value])),
    storageClass: draft.storageClass,
  };
}
