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

/** The first two labels of an owner name, when both start with an underscore. */
const serviceLabels = /^_[^.]+\._[^.]+(?:\.|$)/;

/**
 * Older clients send the owner name in three parts: data.service, data.proto and data.name. The
 * deployed service ignores the name of such a request; here it counts when data.name is missing.
 */
export function legacyOwner(request: Readonly<Record<string, unknown>>): string | undefined {
  const { data, name: given } = request;
  if (typeof data !== "object" || data === null) return undefined;
  const { service, proto, name = given ?? "@" } = data as Record<string, unknown>;
  if (typeof service !== "string" || typeof proto !== "string" || typeof name !== "string") {
    return undefined;
  }
  const prefix = `${label(service)}.${label(proto)}`;
  const base = name.trim().replace(serviceLabels, "");
  return base === "@" || base === "" ? prefix : `${prefix}.${base}`;
}
