/**
 * Says why a bucket does not answer: workerd cannot open the bucket's database. Then the bucket
 * object does not start, callers see only "internal error", and the object cannot say it itself.
 */
import type { BucketNamespace } from "../transport/bucket-service.ts";

interface ReportEnv {
  readonly buckets: BucketNamespace;
  /** The path of the store's folder. */
  readonly folder: string;
  /** The owner's endpoint, in the runtime of a client process: that has no databases. */
  readonly owner?: Fetcher;
}

/** A sentence if the database cannot be opened; no content otherwise. */
export async function reportDatabase(env: ReportEnv, bucketName: string): Promise<Response> {
  if (env.owner !== undefined) return new Response(null, { status: 204 });
  const id = env.buckets.idFromName(bucketName);
  try {
    await env.buckets.get(id).execute([]);
    return new Response(null, { status: 204 });
  } catch (error) {
    const path = databasePath(env.folder, id.toString());
    // The error of a format that is too new says what to do; an error of SQLite does not arrive.
    const { message } = error as Error;
    const text = message.includes("its database has format")
      ? message
      : `Cannot open the database of bucket "${bucketName}", ${path}: SQLite cannot read the file. ` +
        `Nothing was removed. Run "ledge store check ${bucketName}" to see the damage, and restore ` +
        "the file from a backup.";
    console.error(text);
    return new Response(text);
  }
}

export function databasePath(folder: string, id: string): string {
  return `${folder}/databases/ledge-store-bucket/${id}.sqlite`;
}
