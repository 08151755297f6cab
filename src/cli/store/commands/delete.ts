import { UsageError, type Invocation } from "../../command.ts";
import { deleteKeysMax } from "../../../store/core/limits.ts";
import { parseAddress } from "../object-address.ts";
import type { EndpointBucket } from "../../../store/node/endpoint-bucket.ts";
import { counted } from "../../../base/format.ts";
import { print, textOption, withStore } from "../with-store.ts";

export function deleteObjects(invocation: Invocation): Promise<void> {
  const prefix = textOption(invocation, "prefix");
  const dryRun = invocation.options["dry-run"] === true;
  return prefix === undefined
    ? deleteKeys(invocation, dryRun)
    : deletePrefix(invocation, prefix, dryRun);
}

async function deleteKeys(invocation: Invocation, dryRun: boolean): Promise<void> {
  const addresses = invocation.arguments.map(parseAddress);
  await withStore(invocation, async (store) => {
    const buckets = addresses.map(({ bucket, key }) => ({ bucket: store.bucket(bucket), key }));
    let deleted = 0;
    for (const { bucket, key } of buckets) {
      if ((await bucket.head(key)) === null) continue;
      if (!dryRun) await bucket.call({ method: "delete", keys: [key] });
      deleted++;
    }
    report(invocation, deleted, dryRun);
  });
}

async function deletePrefix(
  invocation: Invocation,
  prefix: string,
  dryRun: boolean,
): Promise<void> {
  const [word, second] = invocation.arguments as [string, string?];
  if (second !== undefined || word.includes("/")) {
    throw new UsageError("With --prefix, name the bucket alone: BUCKET --prefix PREFIX.");
  }
  await withStore(invocation, async (store) => {
    const bucket = store.bucket(word);
    report(invocation, await deleteBelow(bucket, prefix, dryRun), dryRun);
  });
}

/** Returns how many there were. */
export async function deleteBelow(
  bucket: EndpointBucket,
  prefix: string,
  dryRun: boolean,
): Promise<number> {
  let deleted = 0;
  for await (const { objects } of bucket.list({ prefix })) {
    const keys = objects.map(({ key }) => key);
    deleted += keys.length;
    if (dryRun || keys.length === 0) continue;
    for (let start = 0; start < keys.length; start += deleteKeysMax) {
      await bucket.call({ method: "delete", keys: keys.slice(start, start + deleteKeysMax) });
    }
  }
  return deleted;
}

function report(invocation: Invocation, deleted: number, dryRun: boolean): void {
  const text = dryRun
    ? `${counted(deleted, "object")} would be deleted.`
    : `Deleted ${counted(deleted, "object")}.`;
  print(invocation, { deleted, dryRun }, text);
}
