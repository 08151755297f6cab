/** All that a server shows of its buckets: a request that changes nothing leaves the dump as it was. */
import type { S3TestClient } from "./s3-client.ts";

export type Dump = Readonly<Record<string, string>>;

/** Of the headers of every response. */
const changing = new Set(["date", "x-amz-request-id", "connection", "keep-alive"]);

export async function dumpBuckets(client: S3TestClient): Promise<Dump> {
  const dump: Record<string, string> = {};
  const read = async (target: string): Promise<string> => {
    const { status, headers, text } = await client.send({ target });
    const shown = Object.entries(headers).filter(([name]) => !changing.has(name));
    dump[target] = JSON.stringify([status, shown, text]);
    return text;
  };
  for (const bucket of elements(await read("/"), "Name")) {
    const listed = await read(`/${bucket}?list-type=2`);
    for (const key of elements(listed, "Key")) await read(`/${bucket}/${key}`);
    const uploads = await read(`/${bucket}?uploads`);
    const keys = elements(uploads, "Key");
    for (const [index, uploadId] of elements(uploads, "UploadId").entries()) {
      await read(`/${bucket}/${keys[index]}?uploadId=${uploadId}`);
    }
    for (const setting of ["cors", "lifecycle"]) await read(`/${bucket}?${setting}`);
  }
  return dump;
}

export function elements(text: string, name: string): string[] {
  return Array.from(
    text.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g")),
    ([, value = ""]) => value,
  );
}
