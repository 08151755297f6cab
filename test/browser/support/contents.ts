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
