/**
 * The bindings that the conformance suite needs, in one table, and the two forms in which they are
 * handed to Miniflare: its own raw `env` entries, and the older options that the vitest pool takes.
 *
 * This file is loaded in Node by the runners' configuration, never by the suite.
 */

/** Plain JSON, as Miniflare's options want it. */
type Options = Record<string, string | string[]>;

const bucketName = "conformance";

/** By name of the binding */
const buckets: Record<string, Options> = {
  BUCKET: { bucket_name: bucketName },
  OLD_DATE: {
    bucket_name: bucketName,
    compatibility_date: "2022-08-03",
    compatibility_flags: [],
  },
  OLD_DATE_FLAG: {
    bucket_name: bucketName,
    compatibility_date: "2022-08-03",
    compatibility_flags: ["store_list_honor_include"],
  },
  HONOR_DATE: {
    bucket_name: bucketName,
    compatibility_date: "2022-08-04",
    compatibility_flags: [],
  },
  TRAILING: { bucket_name: bucketName, compatibility_flags: ["store_list_trailing_delimiter"] },
  // A bucket of its own: one bucket cannot have two defaults.
  INFREQUENT: { bucket_name: "conformance-infrequent", storage_class: "InfrequentAccess" },
};

const table: [name: string, type: string, options: Options][] = [
  ...Object.entries(buckets).map(([name, options]): [string, string, Options] => [
    name,
    "store_bucket",
    options,
  ]),
  ["STORE_CONTROL", "store_control", {}],
];

/** A compatibility date that has everything: the variants above override it. */
export const compatibilityDate = "2026-08-01";

/** Entries of `env` in Miniflare's own configuration. */
export function rawEnv(plugin: { package: string; name: string }) {
  return Object.fromEntries(
    table.map(([name, type, options]) => [
      name,
      { type: `unsafe:${type}` as const, dev: { plugin, options } },
    ]),
  );
}

/** The `unsafeBindings` option of the vitest pool. */
export function unsafeBindings(plugin: { package: string; name: string }) {
  return table.map(([name, type, options]) => ({ name, type, plugin, options }));
}
