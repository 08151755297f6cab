/** Contents for the tests. */
import type { ServedProject } from "./served-project.ts";

export async function put(
  project: ServedProject,
  bucket: string,
  key: string,
  body: string | Uint8Array<ArrayBuffer>,
  contentType = "text/plain",
): Promise<void> {
  const query = new URLSearchParams({ key });
  await project.call(`/api/buckets/${bucket}/content?${query.toString()}`, {
    method: "PUT",
    body,
    headers: { "content-type": contentType },
  });
}

/** The keys below a prefix, as the server has them. */
export async function keysOf(
  project: ServedProject,
  bucket: string,
  prefix: string,
): Promise<string[]> {
  const query = new URLSearchParams({ prefix });
  const { objects } = await project.call<{ objects: { key: string }[] }>(
    `/api/buckets/${bucket}/objects?${query.toString()}`,
  );
  return objects.map(({ key }) => key);
}
