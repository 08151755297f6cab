/** Whether s3rver is installed. It is no dependency of the project. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const place = "node_modules/.cache/s3rver";

/** With a slash at the end: a folder from which modules are resolved. */
export const s3rverFolder = fileURLToPath(new URL(`../../${place}/`, import.meta.url));

export const hasS3rver = existsSync(join(s3rverFolder, "node_modules/s3rver"));

export const missingS3rver =
  "s3rver is not installed, so its column is empty. To install it: " +
  `npm install --prefix ${place} s3rver@3.7.1`;
