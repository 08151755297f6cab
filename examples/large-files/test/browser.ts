/** What a browser hands to an upload: a file, a storage, and a network that can be disturbed. */
import { exports } from "cloudflare:workers";
import type { Upload } from "../public/upload.js";

const mebibyte = 1024 * 1024;

/** Content in which every part differs from every other, and a shift shows. */
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

/** The script itself, as a browser would reach it. */
export const network: Fetch = (url, init) => exports.default.fetch(`http://files.test${url}`, init);

/** A network that notes what passes, and asks `disturb` about it first. */
export function observed(
  disturb: (line: string) => Response | Error | undefined = () => undefined,
) {
  const lines: string[] = [];
  const fetch: Fetch = async (url, init) => {
    const line = `${init?.method ?? "GET"} ${url.replace(/[0-9a-f-]{36}/, "<id>")}`;
    lines.push(line);
    const instead = disturb(line);
    if (instead instanceof Error) throw instead;
    return instead ?? network(url, init);
  };
  return { fetch, lines, parts: () => lines.filter((line) => line.startsWith("PUT")) };
}

/** Waits for nothing, and says how often it was asked to. */
export function noWaiting() {
  const delays: number[] = [];
  const wait = (milliseconds: number) => {
    delays.push(milliseconds);
    return Promise.resolve();
  };
  return { wait, delays };
}

export async function downloaded(upload: Upload): Promise<string> {
  const response = await network(upload.result?.url as string);
  return digest(await response.arrayBuffer());
}
