/**
 * Conditions, and whether each holds for an object with the content `hello`.
 *
 * Conditions as an object compare dates in milliseconds; conditions as headers, in seconds.
 */
import type { StoreConditional } from "../../../../src/types/store.ts";
import { hello } from "./content.ts";

/** Etag of the object with the content `hello`. */
export const etag = hello.md5;
export const second = 1000;

interface ConditionRow {
  name: string;
  /** The condition, for an object that was uploaded at the given time. */
  condition: (uploaded: number) => StoreConditional;
  holds: boolean;
}

export const conditionRows: ConditionRow[] = [
  { name: "no field", condition: () => ({}), holds: true },
  { name: "etagMatches the etag", condition: () => ({ etagMatches: etag }), holds: true },
  { name: "etagMatches another", condition: () => ({ etagMatches: "other" }), holds: false },
  { name: "etagMatches *", condition: () => ({ etagMatches: "*" }), holds: true },
  { name: "etagMatches an empty etag", condition: () => ({ etagMatches: "" }), holds: false },
  {
    name: "etagDoesNotMatch the etag",
    condition: () => ({ etagDoesNotMatch: etag }),
    holds: false,
  },
  {
    name: "etagDoesNotMatch another",
    condition: () => ({ etagDoesNotMatch: "other" }),
    holds: true,
  },
  { name: "etagDoesNotMatch *", condition: () => ({ etagDoesNotMatch: "*" }), holds: false },
  {
    name: "uploadedBefore a millisecond later",
    condition: (uploaded) => ({ uploadedBefore: new Date(uploaded + 1) }),
    holds: true,
  },
  {
    name: "uploadedBefore the same millisecond",
    condition: (uploaded) => ({ uploadedBefore: new Date(uploaded) }),
    holds: false,
  },
  {
    name: "uploadedAfter a millisecond earlier",
    condition: (uploaded) => ({ uploadedAfter: new Date(uploaded - 1) }),
    holds: true,
  },
  {
    name: "uploadedAfter the same millisecond",
    condition: (uploaded) => ({ uploadedAfter: new Date(uploaded) }),
    holds: false,
  },
  {
    name: "uploadedBefore and uploadedAfter around the upload time",
    condition: (uploaded) => ({
      uploadedBefore: new Date(uploaded + 1),
      uploadedAfter: new Date(uploaded - 1),
    }),
    holds: true,
  },
  {
    name: "dates as numbers that hold",
    condition: (uploaded) =>
      ({
        uploadedBefore: uploaded + 1,
        uploadedAfter: uploaded - 1,
      }) as unknown as StoreConditional,
    holds: true,
  },
  {
    name: "dates as numbers that fail",
    condition: (uploaded) => ({ uploadedBefore: uploaded }) as unknown as StoreConditional,
    holds: false,
  },
  {
    name: "a date before 1970",
    condition: () => ({ uploadedAfter: new Date(-1) }),
    holds: true,
  },
  {
    name: "secondsGranularity: uploadedAfter the same second",
    condition: (uploaded) => ({
      uploadedAfter: new Date(uploaded - (uploaded % second)),
      secondsGranularity: true,
    }),
    holds: false,
  },
  {
    name: "secondsGranularity: uploadedAfter the second before",
    condition: (uploaded) => ({
      uploadedAfter: new Date(uploaded - second),
      secondsGranularity: true,
    }),
    holds: true,
  },
  {
    name: "secondsGranularity: uploadedBefore the end of the same second",
    condition: (uploaded) => ({
      uploadedBefore: new Date(uploaded - (uploaded % second) + second - 1),
      secondsGranularity: true,
    }),
    holds: false,
  },
  {
    name: "a later uploadedAfter, with an etagDoesNotMatch that holds",
    condition: (uploaded) => ({
      etagDoesNotMatch: "other",
      uploadedAfter: new Date(uploaded + 60_000),
    }),
    holds: true,
  },
  {
    name: "an earlier uploadedBefore, with an etagMatches that holds",
    condition: (uploaded) => ({ etagMatches: etag, uploadedBefore: new Date(uploaded - 60_000) }),
    holds: true,
  },
  {
    name: "a later uploadedAfter, with an etagMatches that holds",
    condition: (uploaded) => ({ etagMatches: etag, uploadedAfter: new Date(uploaded + 60_000) }),
    holds: false,
  },
  {
    name: "an earlier uploadedBefore, with an etagDoesNotMatch that holds",
    condition: (uploaded) => ({
      etagDoesNotMatch: "other",
      uploadedBefore: new Date(uploaded - 60_000),
    }),
    holds: false,
  },
  {
    name: "an earlier uploadedAfter, with an etagDoesNotMatch that fails",
    condition: (uploaded) => ({
      etagDoesNotMatch: etag,
      uploadedAfter: new Date(uploaded - 60_000),
    }),
    holds: false,
  },
  {
    name: "both etag conditions, one of which fails",
    condition: () => ({ etagMatches: etag, etagDoesNotMatch: etag }),
    holds: false,
  },
  {
    name: "both etag conditions, which both hold",
    condition: () => ({ etagMatches: etag, etagDoesNotMatch: "other" }),
    holds: true,
  },
];

interface HeaderRow {
  name: string;
  headers: (uploaded: number) => Record<string, string>;
  holds: boolean;
}

const httpDate = (time: number) => new Date(time).toUTCString();

export const headerRows: HeaderRow[] = [
  { name: "no conditional header", headers: () => ({ accept: "*/*" }), holds: true },
  { name: "If-Match the etag", headers: () => ({ "if-match": `"${etag}"` }), holds: true },
  { name: "If-Match another", headers: () => ({ "if-match": '"other"' }), holds: false },
  { name: "If-Match *", headers: () => ({ "if-match": "*" }), holds: true },
  {
    name: "If-Match a list with the etag",
    headers: () => ({ "if-match": `"other", "${etag}"` }),
    holds: true,
  },
  {
    name: "If-Match a list without spaces",
    headers: () => ({ "if-match": `"other","${etag}","more"` }),
    holds: true,
  },
  {
    name: "If-Match a list without the etag",
    headers: () => ({ "if-match": '"other", W/"more"' }),
    holds: false,
  },
  {
    name: "If-Match the weak form of the etag: the comparison is strong",
    headers: () => ({ "if-match": `W/"${etag}"` }),
    holds: false,
  },
  {
    name: "If-None-Match the etag",
    headers: () => ({ "if-none-match": `"${etag}"` }),
    holds: false,
  },
  { name: "If-None-Match another", headers: () => ({ "if-none-match": '"other"' }), holds: true },
  { name: "If-None-Match *", headers: () => ({ "if-none-match": "*" }), holds: false },
  {
    name: "If-None-Match a list with *",
    headers: () => ({ "if-none-match": '"other", *' }),
    holds: false,
  },
  {
    name: "If-None-Match a list with the etag",
    headers: () => ({ "if-none-match": `"other", "${etag}"` }),
    holds: false,
  },
  {
    name: "If-None-Match the weak form of the etag: the comparison is weak",
    headers: () => ({ "if-none-match": `W/"${etag}"` }),
    holds: false,
  },
  {
    name: "If-None-Match an etag that contains a comma",
    headers: () => ({ "if-none-match": `"a,${etag}"` }),
    holds: true,
  },
  {
    name: "If-Modified-Since the same second",
    headers: (uploaded) => ({ "if-modified-since": httpDate(uploaded) }),
    holds: false,
  },
  {
    name: "If-Modified-Since the second before",
    headers: (uploaded) => ({ "if-modified-since": httpDate(uploaded - second) }),
    holds: true,
  },
  {
    name: "If-Modified-Since a later time",
    headers: (uploaded) => ({ "if-modified-since": httpDate(uploaded + 60_000) }),
    holds: false,
  },
  {
    name: "If-Modified-Since an invalid date",
    headers: () => ({ "if-modified-since": "yesterday" }),
    holds: true,
  },
  {
    name: "If-Unmodified-Since the same second",
    headers: (uploaded) => ({ "if-unmodified-since": httpDate(uploaded) }),
    holds: false,
  },
  {
    name: "If-Unmodified-Since the second after",
    headers: (uploaded) => ({ "if-unmodified-since": httpDate(uploaded + second) }),
    holds: true,
  },
  {
    name: "If-Unmodified-Since an earlier time",
    headers: (uploaded) => ({ "if-unmodified-since": httpDate(uploaded - 60_000) }),
    holds: false,
  },
  {
    name: "a later If-Modified-Since, with an If-None-Match that holds",
    headers: (uploaded) => ({
      "if-none-match": '"other"',
      "if-modified-since": httpDate(uploaded + 60_000),
    }),
    holds: true,
  },
  {
    name: "an earlier If-Unmodified-Since, with an If-Match that holds",
    headers: (uploaded) => ({
      "if-match": `"${etag}"`,
      "if-unmodified-since": httpDate(uploaded - 60_000),
    }),
    holds: true,
  },
  {
    name: "an If-Match that holds and an If-None-Match that fails",
    headers: () => ({ "if-match": `"${etag}"`, "if-none-match": `"${etag}"` }),
    holds: false,
  },
  { name: "If-Range, which is ignored", headers: () => ({ "if-range": '"other"' }), holds: true },
];
