import { hostname } from "./field/hostname.ts";
import { integer, priority } from "./field/integer.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 2782; `content` holds weight, port and target, and `priority` is a field of the record. */
export const srv = defineRecordType({
  type: "SRV",
  code: 33,
  shape: "data",
  topLevelPriority: true,
  fields: {
    priority,
    weight: integer(16),
    port: integer(16),
    target: hostname({ rootAllowed: true }),
  },
});

function label(text: string): string {
  return text.startsWith("_") ? text : `_${text}`;
}

/** Older clients send the owner name in three parts: data.service, data.proto and data.name. */
export function legacyOwner(data: unknown): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { service, proto, name } = data as Record<string, unknown>;
  if (typeof service !== "string" || typeof proto !== "string" || typeof name !== "string") {
    return undefined;
  }
  const prefix = `${label(service)}.${label(proto)}`;
  return name === "@" || name === "" ? prefix : `${prefix}.${name}`;
}
