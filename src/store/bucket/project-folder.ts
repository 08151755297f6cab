/** Files of the project that tests run in, through workerd's disk service. */
import { lookup } from "mrmime";
import type { SeedObject } from "../../testing/objects.ts";

/** So many files are in memory at a time. */
const filesMax = 64;

interface Entry {
  readonly name: string;
  readonly type: string;
}

/**
 * The files below a folder, as objects: the path from there on is the key, and the name's ending
 * says what type the content is.
 */
export async function* readFolder(disk: Fetcher, path: string): AsyncGenerator<SeedObject[]> {
  const files = await filesBelow(disk, path, "");
  for (let start = 0; start < files.length; start += filesMax) {
    yield await Promise.all(
      files.slice(start, start + filesMax).map(async (key) => {
        const response = await disk.fetch(address(`${path}/${key}`));
        const type = lookup(key);
        return {
          key,
          bytes: await response.bytes(),
          ...(type !== undefined && { http: { contentType: type } }),
        };
      }),
    );
  }
}

async function filesBelow(disk: Fetcher, path: string, below: string): Promise<string[]> {
  const response = await disk.fetch(address(`${path}/${below}`));
  if (!response.ok || !response.headers.get("content-type")?.includes("json")) {
    await response.body?.cancel();
    throw new Error(
      `Cannot seed a bucket from "${path}": there is no such folder in the project's. ` +
        "Give a path from the folder of the configuration file.",
    );
  }
  const entries = await response.json<Entry[]>();
  const nested = await Promise.all(
    entries
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, type }) =>
        type === "directory" ? filesBelow(disk, path, `${below}${name}/`) : [below + name],
      ),
  );
  return nested.flat();
}

function address(path: string): string {
  const segments = path.split("/").map(encodeURIComponent);
  return `http://project/${segments.join("/")}`.replaceAll(/(?<!:)\/{2,}/g, "/");
}
