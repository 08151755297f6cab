/** `ledge store delete` */
import { counted } from "../../base/format.ts";
import { deleteKeysMax } from "../../store/core/limits.ts";
import type { Bucket } from "../../store/node/bucket.ts";
import { headObject, listPages } from "../../store/node/bucket-objects.ts";
import { UsageError, type LeafCommand } from "../command.ts";
import { projectOptions, textOption } from "../options.ts";
import { print } from "../output.ts";
import { parseAddress, type ObjectAddress } from "./object-address.ts";
import { withStore, type OpenStore } from "./open-store.ts";
import { dryRunOption, objectArgument } from "./parameters.ts";

export const deleteObjects: LeafCommand = {
  name: "delete",
  summary: "Deletes objects",
  details: "A missing object is no error.",
  arguments: [
    { ...objectArgument, summary: "The objects; with --prefix, the bucket", repeated: true },
  ],
  options: {
    prefix: { summary: "Deletes all keys with this prefix", value: "PREFIX" },
    "dry-run": dryRunOption,
    ...projectOptions,
  },
  examples: ["ledge store delete photos/cat.png", "ledge store delete photos --prefix 2025/"],

  async run(invocation) {
    const words = invocation.arguments;
    const prefix = textOption(invocation, "prefix");
    const dryRun = invocation.options["dry-run"] === true;
    if (prefix !== undefined && (words.length > 1 || words[0]?.includes("/"))) {
      throw new UsageError("With --prefix, name the bucket alone: BUCKET --prefix PREFIX.");
    }
    const addresses = prefix === undefined ? words.map(parseAddress) : [];
    const deleted = await withStore(invocation, (store) =>
      prefix === undefined
        ? deleteKeys(store, addresses, dryRun)
        : deletePrefix(store.bucket(words[0] as string), prefix, dryRun),
    );
    const text = dryRun
      ? `${counted(deleted, "object")} would be deleted.`
      : `Deleted ${counted(deleted, "object")}.`;
    print(invocation, { deleted, dryRun }, text);
  },
};

/** Deletes objects and returns the number of those that existed. A dry run only counts them. */
async function deleteKeys(
  store: OpenStore,
  addresses: readonly ObjectAddress[],
  dryRun: boolean,
): Promise<number> {
  const objects = addresses.map(({ bucket, key }) => ({ bucket: store.bucket(bucket), key }));
  let deleted = 0;
  for (const { bucket, key } of objects) {
    // A damaged object cannot be read, and can be deleted.
    const exists = await headObject(bucket, key).then(
      (object) => object !== null,
      () => true,
    );
    if (!exists) continue;
    if (!dryRun) await bucket.call({ method: "delete", keys: [key] });
    deleted++;
  }
  return deleted;
}

/** Deletes the objects with a prefix and returns their number. A dry run only counts them. */
export async function deletePrefix(
  bucket: Bucket,
  prefix: string,
  dryRun: boolean,
): Promise<number> {
  let deleted = 0;
  for await (const { objects } of listPages(bucket, { prefix })) {
    const keys = objects.map(({ key }) => key);
    deleted += keys.length;
    if (dryRun) continue;
    for (let start = 0; start < keys.length; start += deleteKeysMax) {
      await bucket.call({ method: "delete", keys: keys.slice(start, start + deleteKeysMax) });
    }
  }
  return deleted;
}
