/** What a person types into the form of the metadata, and the change that it makes. */
import type {
  HttpMetadata,
  MetadataChange,
  ObjectDetails,
  StorageClass,
} from "../../api/buckets.ts";

type TextField = Exclude<keyof HttpMetadata, "cacheExpiry">;

export const httpFields: Readonly<Record<TextField, string>> = {
  contentType: "Content type",
  contentLanguage: "Content language",
  contentDisposition: "Content disposition",
  contentEncoding: "Content encoding",
  cacheControl: "Cache control",
};

export const textFields = Object.keys(httpFields) as readonly TextField[];

/** What a person has typed. A field that is empty is not set. */
export interface MetadataDraft {
  readonly texts: Readonly<Partial<Record<TextField, string>>>;
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

export function draftOf(details: ObjectDetails): MetadataDraft {
  const { cacheExpiry, ...texts } = details.httpMetadata;
  return {
    texts,
    cacheExpiry: cacheExpiry === undefined ? "" : expiryText(cacheExpiry),
    custom: Object.entries(details.customMetadata).map(([name, value], id) => ({
      id,
      name,
      value,
    })),
    storageClass: details.storageClass,
  };
}

/** The change that a draft makes of the object, or what is wrong with the names of the pairs. */
export function changeOf(draft: MetadataDraft, details: ObjectDetails): MetadataChange | string {
  const names = draft.custom.map(({ name }) => name);
  if (names.includes("")) return "A pair has no name. Write a name, or remove the pair.";
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `Two pairs have the name "${twice}". Change one of the names.`;
  const set = Object.entries(draft.texts).filter(([, text]) => text !== "");
  const { cacheExpiry } = details.httpMetadata;
  // The input does not show the milliseconds.
  const isSameExpiry = cacheExpiry !== undefined && draft.cacheExpiry === expiryText(cacheExpiry);
  return {
    etag: details.etag,
    version: details.version,
    httpMetadata: {
      ...Object.fromEntries(set),
      ...(draft.cacheExpiry !== "" && {
        cacheExpiry: isSameExpiry ? cacheExpiry : Date.parse(`${draft.cacheExpiry}Z`),
      }),
    },
    customMetadata: Object.fromEntries(draft.custom.map(({ name, value }) => [name, value])),
    storageClass: draft.storageClass,
  };
}

function expiryText(milliseconds: number): string {
  const date = new Date(milliseconds);
  // The store keeps numbers that are no date.
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, -".000Z".length);
}
