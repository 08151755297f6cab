/**
 * The bindings of the conformance suite in one table, and the two forms in which Miniflare takes
 * them: raw `env` entries, and the older options of the vitest pool.
 *
 * The configuration of the runners loads this file in Node; the suite never loads it.
 */

/** Plain JSON, as Miniflare's options require. */
type Options = Record<string, string | string[]>;

const bucketName = "conformance";

/** Options by the name of the binding. */
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
  // A second bucket: one bucket cannot have two default storage classes.
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

/** A compatibility date with all features. The variants above override the date. */
export const compatibilityDate = "2026-08-01";

/** Entries of `env` in Miniflare's configuration. */
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
