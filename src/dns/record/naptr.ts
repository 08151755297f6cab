import { problem } from "./problem.ts";
import { hostname } from "./field/hostname.ts";
import { integer } from "./field/integer.ts";
import { text } from "./field/text.ts";
import { defineRecordType } from "./record-type.ts";

/** RFC 3403 section 4.1. */
export const naptr = defineRecordType({
  type: "NAPTR",
  code: 35,
  shape: "data",
  fields: {
    order: integer(16),
    preference: integer(16),
    flags: text(/^[a-z0-9]*$/i, "letters and digits"),
    service: text(/^[a-z0-9+:._-]*$/i, "at most 255 letters, digits and +:._-"),
    regex: text(/^/, "at most 255 characters of printable ASCII", { fallback: "" }),
    replacement: hostname({ rootAllowed: true }),
  },
  check({ regex, replacement }, report) {
    if (regex !== "" && replacement !== ".") report(problem.exclusive("regex", "replacement"));
  },
});
