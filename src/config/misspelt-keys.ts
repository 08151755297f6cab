/** Keys at the top of the file that are nearly ours. Others are for wrangler to judge. */
import type { Table } from "./config-file.ts";
import type { Report } from "./mistakes.ts";
import { nearest } from "../base/nearest.ts";
import { wranglerKeys } from "./wrangler-keys.ts";

const ourKeys = ["store_buckets", "dns"];

export function reportMisspeltKeys(table: Table, report: Report): void {
  const known = [...ourKeys, ...wranglerKeys];
  for (const key of Object.keys(table)) {
    if (known.includes(key)) continue;
    const guess = nearest(key, known);
    if (guess !== null && ourKeys.includes(guess)) {
      report([key], `is not a key; did you mean "${guess}"?`);
    }
  }
}
