/**
 * Compatibility dates and flags that change the behaviour of buckets.
 *
 * The store's own flags start with `store_`. A script lists them among workerd's flags, but workerd
 * rejects flags that it does not know, so the plugin removes them before workerd reads the list.
 */
import { UserError } from "../base/user-error.ts";
import type { BucketSettings } from "../store/core/operations.ts";

/** Specification: `list()` honours `include` from this date on. */
const honorIncludeDate = "2022-08-04";
/** workerd's `capture_async_api_throws` is the default from this date on. */
const rejectBadArgumentsDate = "2022-10-31";
/** workerd's `rpc` is the default from this date on. */
const rpcDate = "2024-04-03";

const storeFlags = ["store_list_honor_include", "store_list_trailing_delimiter"] as const;

export function compatibilitySettings(
  date: string | undefined,
  flags: readonly string[],
): Omit<BucketSettings, "storageClass" | "allowUnsizedStreams"> {
  for (const flag of flags.filter(isStoreFlag)) {
    if (!(storeFlags as readonly string[]).includes(flag)) {
      throw new UserError(
        `Unknown compatibility flag "${flag}". Flags of store buckets are ` +
          `${storeFlags.join(" and ")}: correct or remove it.`,
      );
    }
  }
  const since = (start: string): boolean => date !== undefined && date >= start;
  return {
    honorInclude: since(honorIncludeDate) || flags.includes("store_list_honor_include"),
    trailingDelimiter: flags.includes("store_list_trailing_delimiter"),
    rejectBadArguments:
      (since(rejectBadArgumentsDate) || flags.includes("capture_async_api_throws")) &&
      !flags.includes("do_not_capture_async_api_throws"),
  };
}

/** workerd's `rpc`: whether a script can call methods of objects and services. */
export function hasRpc(date: string | undefined, flags: readonly string[]): boolean {
  return (date !== undefined && date >= rpcDate) || flags.includes("rpc");
}

export function isStoreFlag(flag: string): boolean {
  return flag.startsWith("store_");
}
