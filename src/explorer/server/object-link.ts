/** Presigned links to objects: they lead to the S3-compatible API, and need no token. */
import * as v from "valibot";
import { expiresSecondsMax, presign } from "../../http/signature.ts";
import type { Link } from "../api/buckets.ts";
import { checkKey, quoted, requireBucket } from "./bucket-access.ts";
import { CallError, json, type ExplorerResponse, readInput } from "./call.ts";
import { type ExplorerCall } from "./context.ts";

const secondsProblem = `must be a whole number of seconds from 1 to ${expiresSecondsMax}, which is 7 days`;

const linkRequestSchema = v.object({
  key: v.string("must be text"),
  expiresSeconds: v.pipe(
    v.number(secondsProblem),
    v.integer(secondsProblem),
    v.minValue(1, secondsProblem),
    v.maxValue(expiresSecondsMax, secondsProblem),
  ),
});

export async function makeLink(call: ExplorerCall): Promise<ExplorerResponse> {
  const bucket = await requireBucket(call);
  const { key, expiresSeconds } = await readInput(call, linkRequestSchema);
  checkKey(key);
  const signer = call.context.s3();
  if (signer === null) {
    throw new CallError(
      409,
      "A link leads to the S3-compatible API, which is not running. Start ledge dev or ledge s3, " +
        "and try again.",
    );
  }
  const now = Date.now();
  const url = await presign({
    endpoint: signer.url,
    credentials: signer.credentials,
    method: "GET",
    bucketName: bucket.name,
    key,
    expiresSeconds,
    now,
  });
  if (URL.parse(url)?.href !== url) {
    throw new CallError(
      409,
      `Browsers change the address of ${quoted(key)}, because a segment of the key is "." or "..". ` +
        "Copy the object to another key, and make a link to the copy.",
    );
  }
  return json({ url, expires: now + expiresSeconds * 1000 } satisfies Link);
}
