import { createInterface } from "node:readline/promises";
import { UsageError, exitCode, type Invocation } from "../../command.ts";
import { listLimitMax } from "../../../store/core/limits.ts";
import type { EndpointBucket } from "../../../store/node/endpoint-bucket.ts";
import { counted } from "../../../base/format.ts";
import { print, withStore } from "../with-store.ts";
import { deleteBelow } from "./delete.ts";

export function resetBuckets(invocation: Invocation): Promise<number> {
  const dryRun = invocation.options["dry-run"] === true;
  const confirmed = invocation.options["yes"] === true || dryRun;
  if (!confirmed && !process.stdin.isTTY) {
    throw new UsageError("This deletes everything: say --yes, or --dry-run to see what.");
  }
  return withStore(invocation, async (store) => {
    const words =
      invocation.arguments.length > 0
        ? invocation.arguments
        : store.project.buckets.map(({ bucketName }) => bucketName);
    const buckets = words.map((word) => store.bucket(word));
    if (!confirmed && !(await confirm(buckets))) {
      process.stderr.write("Nothing was deleted.\n");
      return exitCode.failed;
    }
    const results = [];
    for (const bucket of buckets) {
      const objects = await deleteBelow(bucket, "", dryRun);
      const uploads = await abortUploads(bucket, dryRun);
      results.push({ name: bucket.name, objects, uploads, dryRun });
    }
    print(
      invocation,
      results,
      results
        .map(({ name, objects, uploads }) => {
          const what = `${counted(objects, "object")} and ${counted(uploads, "upload")}`;
          return dryRun ? `${name}: ${what} would be deleted.` : `${name}: deleted ${what}.`;
        })
        .join("\n"),
    );
    return exitCode.done;
  });
}

async function confirm(buckets: readonly EndpointBucket[]): Promise<boolean> {
  const names = buckets.map(({ name }) => `"${name}"`).join(", ");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`Delete everything in ${names}? [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

async function abortUploads(bucket: EndpointBucket, dryRun: boolean): Promise<number> {
  let count = 0;
  let after: { key: string; uploadId: string } | undefined;
  for (;;) {
    const { uploads, truncated } = await bucket.call({
      method: "listUploads",
      prefix: "",
      limit: listLimitMax,
      ...(after !== undefined && { after }),
    });
    for (const { key, uploadId } of uploads) {
      if (!dryRun) await bucket.call({ method: "abortUpload", key, uploadId });
      count++;
    }
    const last = uploads.at(-1);
    if (!truncated || last === undefined) return count;
    // Aborted ones are gone from the listing; looking further would miss those behind them.
    if (dryRun) after = { key: last.key, uploadId: last.uploadId };
  }
}
