/** The files of the project that is tested, read through workerd's disk service. */
import type { SeedObject } from "../core/fixture.ts";

/** The number of files that are in memory at the same time. */
const filesMax = 64;

/** By file extension. Node supplies the table, because a script starts faster without it. */
export type ContentTypes = Readonly<Record<string, string>>;

/** The paths of the files below a folder, relative to it; `null` if the folder does not exist. */
export async function listProjectFiles(disk: Fetcher, path: string): Promise<string[] | null> {
  const response = await disk.fetch(urlOf(path));
  if (!response.ok || !response.headers.get("content-type")?.includes("json")) {
    await response.body?.cancel();
    return null;
  }
  const entries = await response.json<{ name: string; type: string }[]>();
  const nested = await Promise.all(
    entries
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(async ({ name, type }) => {
        if (type !== "directory") return [name];
        const below = (await listProjectFiles(disk, `${path}/${name}`)) ?? [];
        return below.map((file) => `${name}/${file}`);
      }),
  );
  return nested.flat();
}

/** Reads files as objects: the key is the path, the extension determines the content type. */
export async function* readProjectFiles(
  disk: Fetcher,
  path: string,
  keys: readonly string[],
  contentTypes: ContentTypes,
): AsyncGenerator<SeedObject[]> {
  for (let start = 0; start < keys.length; start += filesMax) {
    yield await Promise.all(
      keys.slice(start, start + filesMax).map(async (key) => {
        const response = await disk.fetch(urlOf(`${path}/${key}`));
        const extension = key.slice(key.lastIndexOf(".") + 1).toLowerCase();
        return {
          key,
          bytes: await response.bytes(),
          ...(Object.hasOwn(contentTypes, extension) && {
            http: { contentType: contentTypes[extension] as string },
          }),
        };
      }),
    );
  }
}

function urlOf(path: string): string {
  const segments = path.split("/").map(encodeURIComponent);
  return `http://project/${segments.join("/")}`.replaceAll(/(?<!:)\/{2,}/g, "/");
}
