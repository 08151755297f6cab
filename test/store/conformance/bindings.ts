/**
 * The bindings of the conformance suite in one table, and the two forms in which Miniflare takes
 * them: raw `env` entries, and the older options of the vitest pool.
 *
 * The configuration of the runners loads this file in Node; the suite never loads it.
 */

import { remoteOptions, type RemoteService } from "../../support/remote-bucket.ts";

/** Plain JSON, as Miniflare's options require. */
type Options = Record<string, string | string[] | ReturnType<typeof remoteOptions>["remote"]>;

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

type Entry = [name: string, type: string, options: Options];

/** @param remote the service that has the buckets; without it, they are local */
function tableOf(remote: RemoteService | undefined): Entry[] {
  const place = remote === undefined ? {} : remoteOptions(remote);
  return [
    ...Object.entries(buckets).map(([name, options]): Entry => [
      name,
      "store_bucket",
      { ...options, ...place },
    ]),
    ["STORE_CONTROL", "store_control", {}],
  ];
}

/** A compatibility date with all features. The variants above override the date. */
export const compatibilityDate = "2026-08-01";

interface Plugin {
  readonly package: string;
  readonly name: string;
}

/** Entries of `env` in Miniflare's configuration. */
export function rawEnv(plugin: Plugin, remote?: RemoteService) {
  return Object.fromEntries(
    tableOf(remote).map(([name, type, options]) => [
      name,
      { type: `unsafe:${type}` as const, dev: { plugin, options } },
    ]),
  );
}

/** The `unsafeBindings` option of the vitest pool. */
export function unsafeBindings(plugin: Plugin, remote?: RemoteService) {
  return tableOf(remote).map(([name, type, options]) => ({ name, type, plugin, options }));
}
