/**
 * The session token of temporary credentials, as the deployed service documents it for local signing:
 *
 *     token   base64("jwt/" + JWT), the JWT signed with HS256 and the secret of the parent credentials
 *     secret  SHA-256 of the JWT, in hexadecimal
 *     key id  that of the parent
 *
 * The claims name one bucket (`bucket`), what the holder may do (`scope`, `actions` or both), optionally
 * the objects (`paths`), the parent (`iss`) and the end (`exp`). `permissions.ts` decides by them.
 *
 * Deviation: the subject (the account) and the audience (the host) are not compared: there is one account,
 * and clients reach the server by several names.
 */
import { createHmac, hash } from "node:crypto";
import * as v from "valibot";
import { isSameText } from "../base/node-http.ts";
import type { S3Credentials } from "../http/signature.ts";
import { scopes, type Permissions } from "./permissions.ts";
import { S3Error } from "./s3-errors.ts";

export interface Session {
  /** What the holder signs requests with. */
  readonly secretAccessKey: string;
  readonly permissions: Permissions;
}

const texts = v.array(v.string());
const headerSchema = v.object({ alg: v.literal("HS256") });
const claimsSchema = v.object({
  iss: v.string(),
  exp: v.number(),
  nbf: v.optional(v.number()),
  bucket: v.pipe(v.string(), v.minLength(1)),
  scope: v.optional(v.picklist(scopes)),
  actions: v.optional(texts),
  paths: v.optional(
    v.strictObject({ prefixPaths: v.optional(texts, []), objectPaths: v.optional(texts, []) }),
  ),
});

/**
 * @param parent the credentials of the server
 * @param now milliseconds since the epoch
 * @throws S3Error for a token that is not one, that the parent has not signed, or that is not valid now
 */
export function readSessionToken(token: string, parent: S3Credentials, now: number): Session {
  const text = Buffer.from(token, "base64").toString();
  const [, jwt, signed, header, claims, signature] =
    /^jwt\/((([\w-]+)\.([\w-]+))\.([\w-]+))$/.exec(text) ?? [];
  // The answer of the deployed service to the token of another service.
  if (jwt === undefined) throw new S3Error("InvalidArgument", "X-Amz-Security-Token");
  const expected = createHmac("sha256", parent.secretAccessKey).update(signed as string);
  if (!isSameText(expected.digest("base64url"), signature as string)) {
    throw refused("the secret access key of the server has not signed the session token");
  }
  if (!v.is(headerSchema, parseJson(header as string))) {
    throw refused("the algorithm of the session token is not HS256");
  }
  const parsed = v.safeParse(claimsSchema, parseJson(claims as string));
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw refused(`${v.getDotPath(issue) ?? "claims"} of the session token: ${issue.message}`);
  }
  const { iss, exp, nbf, bucket, scope, actions, paths } = parsed.output;
  if (iss !== parent.accessKeyId) {
    throw refused("iss of the session token is not the access key id of the server");
  }
  if (scope === undefined && actions === undefined) {
    throw refused("the session token has neither scope nor actions");
  }
  const seconds = now / 1000;
  // Deviation: the code and the status are AWS's; those of the deployed service are not on record.
  if (seconds >= exp) throw new S3Error("ExpiredToken");
  if (nbf !== undefined && seconds < nbf) throw refused("the session token is not valid yet");
  return {
    secretAccessKey: hash("sha256", jwt, "hex"),
    permissions: { bucketName: bucket, scope, actions, paths },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
}

/** @param reason for the person who makes the tokens: an element of the error document */
function refused(reason: string): S3Error {
  return new S3Error("Unauthorized", undefined, { Reason: reason });
}
