/**
 * Copies the objects of Miniflare's simulator into the store.
 *
 * One runtime has a bucket of each, and a script copies page by page. So the copy depends on no file
 * format of the simulator. An object that the store has already stays as it is: a second copy writes
 * nothing, and a copy replaces no newer object.
 */
import { acceptedConfig, loadMiniflare } from "../../base/miniflare.ts";
import { ownCompatibilityDate, pluginPath } from "../../base/runtime.ts";
import { simulatedBuckets } from "../../config/deployed-buckets.ts";
import { persistPath, pluginFolder, stateFolder } from "../../state/folder.ts";
import type { ProjectConfig } from "../../config/read-config.ts";

/** The buckets of these projects that have objects in the simulator. */
export function simulatorBuckets(configurations: readonly ProjectConfig[]) {
  const buckets = configurations.flatMap(({ folder, buckets: served }) => {
    const state = stateFolder(folder);
    const names = simulatedBuckets(pluginFolder(state, "r2"), served);
    return names.map((bucketName) => ({ state, bucketName }));
  });
  const distinct = new Map(buckets.map((each) => [JSON.stringify(each), each]));
  return [...distinct.values()];
}

export async function copyObjects({
  state,
  bucketName,
}: ReturnType<typeof simulatorBuckets>[number]): Promise<{ copied: number; kept: number }> {
  const module = loadMiniflare();
  const miniflare = new module.Miniflare({
    resourcePersistencePath: persistPath(state),
    workers: [
      {
        config: acceptedConfig(module, {
          name: "ledge-copy-objects",
          compatibilityDate: ownCompatibilityDate,
          manifest: {
            mainModule: "index.mjs",
            modules: { "index.mjs": { type: "esm", contents: script } },
          },
          env: {
            SIMULATOR: { type: "r2", name: bucketName },
            STORE: {
              type: "unsafe:store_bucket",
              dev: {
                plugin: { package: pluginPath, name: "store" },
                options: { bucket_name: bucketName },
              },
            },
          },
        }),
      },
    ],
  });
  try {
    let [copied, kept, cursor] = [0, 0, undefined as string | undefined];
    do {
      const response = await miniflare.dispatchFetch("http://localhost/", {
        method: "POST",
        body: JSON.stringify({ cursor }),
      });
      if (!response.ok) throw new Error(await response.text());
      const page = (await response.json()) as { copied: number; kept: number; cursor?: string };
      copied += page.copied;
      kept += page.kept;
      cursor = page.cursor;
    } while (cursor !== undefined);
    return { copied, kept };
  } finally {
    await miniflare.dispose();
  }
}

/** Copies one page. The store verifies the hash that the simulator has. */
const script = `
async function copy(key, { SIMULATOR, STORE }) {
  if ((await STORE.head(key)) !== null) return false;
  const object = await SIMULATOR.get(key);
  const { httpMetadata, customMetadata } = object;
  const [algorithm] = ["sha512", "sha384", "sha256", "sha1", "md5"].filter((name) => object.checksums[name]);
  const options = { httpMetadata, customMetadata, ...(algorithm && { [algorithm]: object.checksums[algorithm] }) };
  const { readable, writable } = new FixedLengthStream(object.size);
  await Promise.all([STORE.put(key, readable, options), object.body.pipeTo(writable)]);
  return true;
}

export default {
  async fetch(request, env) {
    const { cursor } = await request.json();
    const page = await env.SIMULATOR.list({ cursor, limit: 500 });
    const result = { copied: 0, kept: 0, ...(page.truncated && { cursor: page.cursor }) };
    try {
      for (const { key } of page.objects) result[(await copy(key, env)) ? "copied" : "kept"]++;
      return Response.json(result);
    } catch (error) {
      return new Response(error.stack, { status: 500 });
    }
  },
};
`;
