/** Files of the project that tests run in, through workerd's disk service. */
import type { SeedObject } from "../core/fixture.ts";

/** So many files are in memory at a time. */
const filesMax = 64;

export interface ProjectFolder {
  readonly disk: Fetcher;
  /** By the endings of names. Node has them, for scripts start sooner without. */
  readonly contentTypes: Readonly<Record<string, string>>;
}

interface Entry {
  readonly name: string;
  readonly type: string;
}

/** The paths of the files below a folder, from there on; `null` when there is no such folder. */
export async function filesBelow(disk: Fetcher, path: string): Promise<string[] | null> {
  const response = await disk.fetch(address(path));
  if (!response.ok || !response.headers.get("content-type")?.includes("json")) {
    await response.body?.cancel();
    return null;
  }
  const entries = await response.json<Entry[]>();
  const nested = await Promise.all(
    entries
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(async ({ name, type }) => {
        if (type !== "directory") return [name];
        const below = (await filesBelow(disk, `${path}/${name}`)) ?? [];
        return below.map((file) => `${name}/${file}`);
      }),
  );
  return nested.flat();
}

/** Files as objects: the path is the key, and the name's ending says what type the content is. */
export async function* readFiles(
  { disk, contentTypes }: ProjectFolder,
  path: string,
  keys: readonly string[],
): AsyncGenerator<SeedObject[]> {
  for (let start = 0; start < keys.length; start += filesMax) {
    yield await Promise.all(
      keys.slice(start, start + filesMax).map(async (key) => {
        const response = await disk.fetch(address(`${path}/${key}`));
        const ending = key.slice(key.lastIndexOf(".") + 1).toLowerCase();
        return {
          key,
          bytes: await response.bytes(),
          ...(Object.hasOwn(contentTypes, ending) && {
            http: { contentType: contentTypes[ending] as string },
          }),
        };
      }),
    );
  }
}

function address(path: string): string {
  const segments = path.split("/").map(encodeURIComponent);
  return `http://project/${segments.join("/")}`.replaceAll(/(?<!:)\/{2,}/g, "/");
}
