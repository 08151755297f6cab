/** The object that a request copies: `x-amz-copy-source: /bucket/key?versionId=null`. */
import { S3Error } from "./s3-error.ts";

export interface CopySource {
  readonly bucketName: string;
  readonly key: string;
  readonly versionId: string | null;
}

/** @throws S3Error InvalidArgument */
export function parseCopySource(header: string): CopySource {
  const [, path, version] = /^\/?(.*?)(?:\?versionId=([^?]*))?$/s.exec(header) as unknown as [
    string,
    string,
    string?,
  ];
  const source = decodeURIComponent(path);
  const separator = source.indexOf("/");
  if (separator < 1 || separator === source.length - 1) {
    throw new S3Error("InvalidArgument", "copy source bucket name");
  }
  return {
    bucketName: source.slice(0, separator),
    key: source.slice(separator + 1),
    versionId: version === undefined ? null : decodeURIComponent(version),
  };
}
