/** One folder: `/photos?prefix=&cursor=&limit=`, a page at a time. */
import { describePhoto } from "./photo.ts";
import { problem } from "./problem.ts";

/** The number of photos and folders on one page. */
const limitDefault = 100;
const limitMax = 1000;

export async function listFolder(bucket: StoreBucket, parameters: URLSearchParams) {
  const prefix = parameters.get("prefix") ?? "";
  const cursor = parameters.get("cursor");
  const limit = Number(parameters.get("limit") ?? limitDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    return problem(400, `The limit must be an integer from 1 to ${limitMax}.`);
  }
  const page = await list(bucket, {
    prefix,
    delimiter: "/",
    limit,
    include: ["httpMetadata"],
    ...(cursor !== null && { cursor }),
  });
  if (page === null) return problem(400, "The cursor is invalid. Start without a cursor.");
  return Response.json(
    {
      prefix,
      // The bucket returns `cats`; the prefix of that folder is `cats/`.
      folders: page.delimitedPrefixes.map((folder) => `${folder}/`),
      photos: page.objects.map(describePhoto),
      ...(page.truncated && { cursor: page.cursor }),
    },
    { headers: { "cache-control": "no-store" } },
  );
}

/** The page, or `null` when the cursor is invalid. */
async function list(bucket: StoreBucket, options: StoreListOptions): Promise<StoreObjects | null> {
  try {
    return await bucket.list(options);
  } catch (error) {
    if (options.cursor === undefined) throw error;
    return null;
  }
}
