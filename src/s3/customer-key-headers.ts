/**
 * The key of a customer in headers (SSE-C): `x-amz-server-side-encryption-customer-*`, and the same
 * names with `copy-source` for the source of a copy. The texts are those of the deployed service.
 */
import { customerKeyBytes, type KeyHolder } from "../store/core/metadata.ts";
import { md5 } from "../store/core/hash.ts";
import { hexToBase64 } from "../http/headers.ts";
import { S3Error } from "./s3-error.ts";
import type { S3Headers } from "./s3-request.ts";

const algorithmName = "AES256";
const prefix = "x-amz-server-side-encryption-customer-";
const sourcePrefix = "x-amz-copy-source-server-side-encryption-customer-";

/** @throws S3Error for headers that are incomplete or not valid */
export function parseCustomerKey(headers: S3Headers): KeyHolder {
  const key = parseKey(headers, prefix);
  if (key.ssecKeyMd5 !== undefined && headers.get("x-amz-server-side-encryption") !== null) {
    throw new S3Error(
      "InvalidArgument",
      "Server Side Encryption with Customer provided key is incompatible with the encryption " +
        "method specified",
    );
  }
  return key;
}

/** The key of the source of a copy. */
export function parseSourceKey(headers: S3Headers): KeyHolder {
  return parseKey(headers, sourcePrefix);
}

function parseKey(headers: S3Headers, name: string): KeyHolder {
  const algorithm = headers.get(`${name}algorithm`);
  const key = headers.get(`${name}key`);
  const keyMd5 = headers.get(`${name}key-md5`);
  if (algorithm === null && key === null && keyMd5 === null) return {};
  if (key === null) throw incomplete("an appropriate secret key.");
  if (keyMd5 === null) throw incomplete("the client calculated MD5 of the secret key.");
  if (algorithm === null) throw incomplete("a valid encryption algorithm.");
  if (algorithm !== algorithmName) throw new S3Error("InvalidEncryptionAlgorithmError");
  const bytes = decodeKey(key);
  if (bytes?.length !== customerKeyBytes) {
    throw new S3Error("InvalidArgument", "The secret key was invalid for the specified algorithm.");
  }
  const ssecKeyMd5 = md5(bytes);
  if (hexToBase64(ssecKeyMd5) !== keyMd5) {
    throw new S3Error(
      "InvalidArgument",
      "The calculated MD5 hash of the key did not match the hash that was provided.",
    );
  }
  return { ssecKeyMd5 };
}

/** `null` for text that is not base64 */
function decodeKey(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(text), (octet) => octet.charCodeAt(0));
  } catch {
    return null;
  }
}

/** The headers of a response about an object or an upload with a key. */
export function customerKeyHeaders({ ssecKeyMd5 }: KeyHolder): Record<string, string> {
  if (ssecKeyMd5 === undefined) return {};
  return {
    [`${prefix}algorithm`]: algorithmName,
    [`${prefix}key-md5`]: hexToBase64(ssecKeyMd5),
  };
}

function incomplete(missing: string): S3Error {
  return new S3Error(
    "InvalidArgument",
    `Requests specifying Server Side Encryption with Customer provided keys must provide ${missing}`,
  );
}
