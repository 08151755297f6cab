/** Substitutes for a browser: a file, a storage, and a network with injected failures. */
import { exports } from "cloudflare:workers";
import type { Upload } from "../public/upload.js";

const mebibyte = 1024 * 1024;

/** Content in which all parts differ, so that a misplaced part changes the digest. */
export function makeFile(name: string, size = 20 * mebibyte): File {
  const bytes = new Uint8Array(size);
  const words = new Uint32Array(bytes.buffer, 0, Math.floor(size / 4));
  for (let index = 0; index < words.length; index += 1) words[index] = index * 2_654_435_761;
  return new File([bytes], name, { type: "application/test", lastModified: 1 });
}

export async function digest(content: BufferSource): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class MemoryStorage {
  readonly items = new Map<string, string>();
  getItem = (key: string) => this.items.get(key) ?? null;
  setItem = (key: string, value: string) => void this.items.set(key, value);
  removeItem = (key: string) => void this.items.delete(key);
}

type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** Requests to the script, as a browser sends them. */
export const network: Fetch = (url, init) => exports.default.fetch(`http://files.test${url}`, init);

/** A network that records its requests. `intercept` can return a response or an error instead. */
export function recordedNetwork(
  intercept: (line: string) => Response | Error | undefined = () => undefined,
) {
  const lines: string[] = [];
  const fetch: Fetch = async (url, init) => {
    const line = `${init?.method ?? "GET"} ${url.replace(/[0-9a-f-]{36}/, "<id>")}`;
    lines.push(line);
    const intercepted = intercept(line);
    if (intercepted instanceof Error) throw intercepted;
    return intercepted ?? network(url, init);
  };
  return { fetch, lines, parts: () => lines.filter((line) => line.startsWith("PUT")) };
}

/** A wait function that does not wait, and records its delays. */
export function noWaiting() {
  const delays: number[] = [];
  const wait = (milliseconds: number) => {
    delays.push(milliseconds);
    return Promise.resolve();
  };
  return { wait, delays };
}

export async function downloadDigest(upload: Upload): Promise<string> {
  const response = await network(upload.result?.url as string);
  return digest(await response.arrayBuffer());
}
