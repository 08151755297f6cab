/**
 * Keys of an S3 service in a file, which is read again when it changes: lines of an environment file, with the names
 * of the variables. workerd reaches the file by a disk service on its folder.
 *
 * A rotation writes the new keys, and removes the old ones from the service later than some seconds, or at once: a
 * request that the service refuses for its keys is sent again with the keys that the file has then.
 */
import {
  remoteVariables,
  type KeySource,
  type RemoteCredentials,
  type RemotePlace,
} from "../remote/remote-options.ts";
import { nameOf } from "../remote/remote-sentences.ts";
import { RemoteError } from "../remote/s3-transport.ts";

/** How long keys are used without a look at the file. */
const keptMilliseconds = 5_000;

export class KeysFile implements KeySource {
  readonly #folder: Pick<Fetcher, "fetch">;
  readonly #name: string;
  readonly #place: RemotePlace;
  #keys: RemoteCredentials | null = null;
  #text: string | null = null;
  #readAt = 0;

  constructor(folder: Pick<Fetcher, "fetch">, name: string, place: RemotePlace) {
    this.#folder = folder;
    this.#name = name;
    this.#place = place;
  }

  async current(): Promise<RemoteCredentials> {
    if (this.#keys === null || Date.now() - this.#readAt >= keptMilliseconds) await this.#read();
    // Read by this call, or by an earlier one.
    return this.#keys as unknown as RemoteCredentials;
  }

  async renew(refused: RemoteCredentials): Promise<boolean> {
    await this.#read();
    return this.#keys !== refused;
  }

  /** @throws RemoteError when there are no keys, and were none before */
  async #read(): Promise<void> {
    // Requests of the same moment use the keys that they have.
    this.#readAt = Date.now();
    try {
      const text = await this.#readText();
      if (text === this.#text) return;
      this.#keys = keysOf(text, this.#place.remote);
      this.#text = text;
    } catch (error) {
      const reason = `The file of keys "${this.#name}" cannot be used: ${(error as Error).message}`;
      // A program that writes the file may be in the middle of it.
      if (this.#keys !== null) return console.warn(`${reason} The keys of before are used.`);
      throw new RemoteError("refused", `${nameOf(this.#place)} has no keys. ${reason}`, {
        cause: error,
      });
    }
  }

  async #readText(): Promise<string> {
    const answer = await this.#folder.fetch(`http://keys/${encodeURIComponent(this.#name)}`);
    const text = await answer.text();
    if (answer.ok) return text;
    throw new Error("the folder of --directory-path=keys has no such file.");
  }
}

/** @throws Error that names what is missing */
export function keysOf(text: string, remote: string): RemoteCredentials {
  const values = new Map<string, string>();
  for (const line of text.split("\n")) {
    const found = /^\s*(?:export\s+)?(\w+)\s*=\s*(.*?)\s*$/.exec(line);
    if (found === null) continue;
    const [, name = "", value = ""] = found;
    values.set(name, /^(["']).*\1$/.test(value) ? value.slice(1, -1) : value);
  }
  const variables = remoteVariables(remote);
  const valueOf = (name: string): string => {
    const value = values.get(name);
    if (value !== undefined && value !== "") return value;
    throw new Error(`it has no ${name}.`);
  };
  const sessionToken = values.get(variables.sessionToken);
  return {
    accessKeyId: valueOf(variables.accessKeyId),
    secretAccessKey: valueOf(variables.secretAccessKey),
    ...(sessionToken && { sessionToken }),
  };
}
