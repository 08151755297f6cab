/** The reason why a bucket does not answer, if it is the bucket's database. */
import type { Sender } from "./sender.ts";

/** The database of a bucket cannot be opened. The message says what to do. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
}

/** The sentence of `bucket/database-report.ts`, in the error of another runtime. */
const reportPattern = /Cannot open the database of bucket ".* from a backup\./s;

/** Asks the service beside the buckets (`bucket/database-report.ts`). */
export async function explainFailure(
  joiner: Fetcher,
  bucketName: string,
  error: unknown,
): Promise<unknown> {
  const report = error instanceof Error ? reportPattern.exec(error.message)?.[0] : undefined;
  if (report !== undefined) return new DatabaseError(report, { cause: error });
  const url = `http://content/database/${encodeURIComponent(bucketName)}`;
  const text = await joiner.fetch(url).then(
    (response) => response.text(),
    () => "",
  );
  return text === "" ? error : new DatabaseError(text, { cause: error });
}

/** A sender that asks for the reason when a message fails. */
export function explained(sender: Sender, joiner: Fetcher, bucketName: string): Sender {
  const explain = (error: unknown): Promise<unknown> => explainFailure(joiner, bucketName, error);
  return {
    async send(messages) {
      try {
        return await sender.send(messages);
      } catch (error) {
        throw await explain(error);
      }
    },
    sendOne(message, resolve, reject) {
      sender.sendOne(message, resolve, async (error) => reject(await explain(error)));
    },
  };
}
