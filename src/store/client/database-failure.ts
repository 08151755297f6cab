/** The reason why a bucket does not answer, if it is the bucket's database. */
import type { Sender } from "./sender.ts";

/** The database of a bucket cannot be opened. The message says what to do. */
export class DatabaseError extends Error {
  override readonly name = "DatabaseError";
}

/** A sender that asks for the reason when a message fails. */
export function explained(sender: Sender, joiner: Fetcher, bucketName: string): Sender {
  const explain = async (error: unknown): Promise<unknown> => {
    const url = `http://content/database/${encodeURIComponent(bucketName)}`;
    const text = await joiner.fetch(url).then(
      (response) => response.text(),
      () => "",
    );
    return text === "" ? error : new DatabaseError(text, { cause: error });
  };
  return {
    send: (messages) =>
      sender.send(messages).catch(async (error) => {
        throw await explain(error);
      }),
    sendOne: (message, resolve, reject) =>
      sender.sendOne(message, resolve, (error) => void explain(error).then(reject)),
  };
}
