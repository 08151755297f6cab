import { wholeParameter } from "../request-target.ts";
import { xmlResponse, type S3Response } from "../s3-request.ts";
import { writeXml } from "../../http/xml.ts";
import { owner, type AccountCall } from "./verb-call.ts";

/** AWS's limit of a page. */
const bucketsMax = 10_000;

export async function listBuckets({ request, buckets }: AccountCall): Promise<S3Response> {
  const { parameters } = request;
  const prefix = parameters.get("prefix") ?? "";
  const after = parameters.get("continuation-token") ?? "";
  const limit = wholeParameter(parameters, "max-buckets", {
    max: bucketsMax,
    fallback: bucketsMax,
  });
  const found = (await buckets.list())
    .filter(({ name }) => name.startsWith(prefix) && name > after)
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const page = found.slice(0, limit);
  const content = {
    Owner: owner,
    Buckets: {
      Bucket: page.map(({ name, created }) => ({
        Name: name,
        CreationDate: new Date(created).toISOString(),
      })),
    },
    ContinuationToken: found.length > limit ? (page.at(-1)?.name ?? null) : null,
    Prefix: parameters.get("prefix"),
  };
  return xmlResponse(writeXml("ListAllMyBucketsResult", content));
}
