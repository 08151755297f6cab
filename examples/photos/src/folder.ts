/** One folder: `/photos?prefix=&cursor=&limit=`, a page at a time. */
import { describePhoto } from "./photo.ts";
import { problem } from "./problem.ts";

/** Photos and folders on one page */
const defaultLimit = 100;
const maximumLimit = 1000;

export async function listFolder(bucket: StoreBucket, parameters: URLSearchParams) {
  const prefix = parameters.get("prefix") ?? "";
  const cursor = parameters.get("cursor");
  const limit = Number(parameters.get("limit") ?? defaultLimit);
  if (!Number.isInteger(limit) || limit < 1 || limit > maximumLimit) {
    return problem(400, `A limit is a whole number from 1 to ${maximumLimit}.`);
  }
  const page = await list(bucket, {
    prefix,
    delimiter: "/",
    limit,
    include: ["httpMetadata"],
    ...(cursor !== null && { cursor }),
  });
  if (page === null) return problem(400, "Only a cursor of this listing leads on: start without.");
  return Response.json(
    {
      prefix,
      // What the bucket calls `cats` is asked for as `cats/`.
      folders: page.delimitedPrefixes.map((folder) => `${folder}/`),
      photos: page.objects.map(describePhoto),
      ...(page.truncated && { cursor: page.cursor }),
    },
    { headers: { "cache-control": "no-store" } },
  );
}

/** The page, or `null` when the bucket did not make the cursor. */
async function list(bucket: StoreBucket, options: StoreListOptions): Promise<StoreObjects | null> {
  try {
    return await bucket.list(options);
  } catch (error) {
    if (options.cursor === undefined) throw error;
    return null;
  }
}
