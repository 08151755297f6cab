/** The text of the records that DNSSEC adds to answers (RFC 4034 sections 3.2 and 4.2). */
import { decodeSignature } from "../dnssec/signature.ts";
import { decodeTypeBitmap } from "../dnssec/type-bitmap.ts";
import { encodeBase64 } from "../wire/base64.ts";
import { formatName } from "../wire/name.ts";
import { Reader } from "../wire/reader.ts";

type TypeName = (code: number) => string;

export function formatSignature(data: Uint8Array, typeName: TypeName): string {
  const { fields, signature } = decodeSignature(data);
  return [
    typeName(fields.typeCovered),
    fields.algorithm,
    fields.labels,
    fields.originalTtlSeconds,
    formatTime(fields.expirationSeconds),
    formatTime(fields.inceptionSeconds),
    fields.keyTag,
    absolute(fields.signerName),
    encodeBase64(signature),
  ].join(" ");
}

export function formatNsec(data: Uint8Array, typeName: TypeName): string {
  const reader = new Reader(data);
  const next = absolute(reader.nameOctets());
  return [next, ...decodeTypeBitmap(reader.rest()).map(typeName)].join(" ");
}

/** YYYYMMDDHHmmSS, in UTC. */
function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replaceAll(/\D/g, "");
}

function absolute(name: Uint8Array): string {
  const text = formatName(name);
  return text === "." ? text : `${text}.`;
}
