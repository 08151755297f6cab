/** `ledge store reset` */
import { counted } from "../../base/format.ts";
import { listLimitMax } from "../../store/core/limits.ts";
import type { UploadReference } from "../../store/core/operations.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { UsageError, exitCode, type LeafCommand } from "../command.ts";
import { confirm } from "../confirm.ts";
import { projectOptions } from "../options.ts";
import { print, printRemark } from "../output.ts";
import { deletePrefix } from "./delete.ts";
import { withStore } from "./open-store.ts";
import { bucketArgument, dryRunOption } from "./parameters.ts";

export const reset: LeafCommand = {
  name: "reset",
  summary: "Deletes all objects and uploads",
  details:
    "Other machines may use a bucket on an S3 service, so such a bucket is emptied only if it is named.",
  arguments: [
    {
      ...bucketArgument,
      summary: "The buckets; by default all that are in the state folder",
      optional: true,
      repeated: true,
    },
  ],
  options: {
    yes: { summary: "Deletes without asking", short: "y" },
    "dry-run": dryRunOption,
    ...projectOptions,
  },

  async run(invocation) {
    const dryRun = invocation.options["dry-run"] === true;
    const isConfirmed = invocation.options["yes"] === true || dryRun;
    if (!isConfirmed && !process.stdin.isTTY) {
      throw new UsageError(
        "This command deletes everything: confirm with --yes, or count with --dry-run.",
      );
    }
    return withStore(invocation, async (store) => {
      const words = invocation.arguments;
      const opened = store.buckets(words);
      const buckets = words.length > 0 ? opened : opened.filter(({ known }) => !known.remote);
      if (!isConfirmed && !(await confirm(question(buckets)))) {
        printRemark("Nothing was deleted.");
        return exitCode.failed;
      }
      const results = [];
      for (const bucket of buckets) {
        const objects = await deletePrefix(bucket, "", dryRun);
        const uploads = await abortUploads(bucket, dryRun);
        results.push({ name: bucket.name, objects, uploads, dryRun });
      }
      const lines = results.map(({ name, objects, uploads }) => {
        const counts = `${counted(objects, "object")} and ${counted(uploads, "upload")}`;
        return dryRun ? `${name}: ${counts} would be deleted.` : `${name}: deleted ${counts}.`;
      });
      print(invocation, results, lines.join("\n"));
      return exitCode.done;
    });
  },
};

function question(buckets: readonly Bucket[]): string {
  return `Delete everything in ${buckets.map(({ name }) => `"${name}"`).join(", ")}?`;
}

/** Returns the number of uploads. A dry run only counts them. */
async function abortUploads(bucket: Bucket, dryRun: boolean): Promise<number> {
  let count = 0;
  let after: UploadReference | undefined;
  for (;;) {
    const { uploads, truncated } = await bucket.call({
      method: "listUploads",
      prefix: "",
      limit: listLimitMax,
      after,
    });
    for (const { key, uploadId } of uploads) {
      if (!dryRun) await bucket.call({ method: "abortUpload", key, uploadId });
      count++;
    }
    const last = uploads.at(-1);
    if (!truncated || last === undefined) return count;
    // Aborted uploads leave the listing, so the next page starts at the beginning again.
    if (dryRun) after = { key: last.key, uploadId: last.uploadId };
  }
}
