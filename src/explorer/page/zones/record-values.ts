/** What a person has typed into the form of a record, and the request and the problems that come of it. */
import type { DnsProblem, DnsRecord } from "../../api/zones-api.ts";
import { recordForm, type RecordField, type RecordForm } from "./record-forms.ts";

export interface RecordValues {
  readonly name: string;
  /** Seconds, or `auto`. */
  readonly ttl: string;
  readonly proxied: boolean;
  readonly comment: string;
  /** Separated by commas. */
  readonly tags: string;
  /** By the names of the type's fields. */
  readonly fields: Readonly<Record<string, string>>;
}

/** The TTL "Auto" in requests and answers. */
const ttlAuto = 1;

export function ttlText(ttl: number): string {
  return ttl === ttlAuto ? "auto" : String(ttl);
}

/** A text that is no number is sent as it is: the server says what is wrong. */
export function readTtl(text: string): number | string {
  const word = text.trim().toLowerCase();
  return word === "" || /^auto(?:matic)?$/.test(word) ? ttlAuto : readNumber(word);
}

export function readNumber(text: string): number | string {
  const word = text.trim();
  return /^-?\d+(?:\.\d+)?$/.test(word) ? Number(word) : word;
}

export function readTags(text: string): readonly string[] {
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}

export function newValues(form: RecordForm): RecordValues {
  const fields = form.fields.map(({ name, initial = "" }) => [name, initial]);
  return {
    name: "",
    ttl: "auto",
    proxied: false,
    comment: "",
    tags: "",
    fields: Object.fromEntries(fields) as Record<string, string>,
  };
}

export function valuesOf(record: DnsRecord): RecordValues {
  const fields = recordForm(record.type)?.fields.map(({ name, place }) => [
    name,
    String((place === "data" ? record.data?.[name] : record[place]) ?? ""),
  ]);
  return {
    name: record.name,
    ttl: ttlText(record.ttl),
    proxied: record.proxied,
    comment: record.comment ?? "",
    tags: record.tags.join(", "),
    fields: Object.fromEntries(fields ?? []) as Record<string, string>,
  };
}

/** A field that is empty is left out: the server has the value, or says that the field is required. */
export function recordRequest(form: RecordForm, values: RecordValues): Record<string, unknown> {
  const request: Record<string, unknown> = {
    type: form.type,
    name: values.name.trim() === "" ? "@" : values.name.trim(),
    ttl: readTtl(values.ttl),
    comment: values.comment,
    tags: readTags(values.tags),
    ...(form.isProxiable === true && { proxied: values.proxied }),
  };
  const data: Record<string, unknown> = {};
  for (const field of form.fields) {
    const value = fieldValue(field, values.fields[field.name] ?? "");
    if (value === undefined) continue;
    if (field.place === "data") data[field.name] = value;
    else request[field.place] = value;
  }
  return form.fields.some(({ place }) => place === "data") ? { ...request, data } : request;
}

function fieldValue({ kind, name }: RecordField, text: string): string | number | undefined {
  // An empty regular expression and empty parameters are values.
  if (text.trim() === "") return name === "regex" || name === "value" ? "" : undefined;
  return kind === "number" || kind === "choice" ? readNumber(text) : text;
}

/** The first words of a message name what is wrong. */
const subjects: readonly (readonly [RegExp, string])[] = [
  [/^TTL\b/, "ttl"],
  [/^DNS name\b|records belong\b|\bthat host already\b/, "name"],
  [/^(?:Content|Record content|Target|SPF|DKIM|DMARC)\b/, "content"],
  [/^(?:DNS record comment|comment)\b/, "comment"],
  [/^(?:DNS record has \d+ tags|Tag|tags)\b/, "tags"],
  [/^(?:This record type cannot be proxied|proxied)\b/, "proxied"],
];

/** The field of the form that a problem is about; `null` for a problem of the whole record. */
export function problemField({ message }: DnsProblem, form: RecordForm): string | null {
  const [first = ""] = message.split(" ");
  if (form.fields.some(({ name }) => name === first)) return first;
  if (first === "name") return first;
  const subject = subjects.find(([pattern]) => pattern.test(message))?.[1];
  if (subject === undefined) return null;
  if (subject !== "content" || form.fields.some(({ name }) => name === "content")) return subject;
  return null;
}
