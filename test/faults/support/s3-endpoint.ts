/** The S3-compatible API of a tool, and the writers and histories that go through it. */
import type { Received, S3TestClient, Sent } from "../../s3/support/s3-client.ts";
import { s3ClientOf } from "../../s3/support/served-s3.ts";
import { FaultProcess } from "./fault-process.ts";
import type { HistoryBucket } from "./history.ts";
import { ledgeProgram, type FaultProject } from "./tools.ts";
import type { Execute } from "./writer.ts";

export interface S3Endpoint {
  readonly process: FaultProcess;
  readonly client: S3TestClient;
}

/** Starts `ledge s3` on the folder of a project. */
export async function startS3Endpoint({ folder }: FaultProject): Promise<S3Endpoint> {
  const child = new FaultProcess([ledgeProgram, "s3", "--port", "0"], { folder });
  return { process: child, client: await s3ClientOf(child) };
}

/** `client` is asked at every call: a restart may change it. */
export function s3Bucket(client: () => S3TestClient): HistoryBucket {
  return {
    async get(key) {
      const answer = await call(client(), { target: `/photos/${key}` }, [200, 404]);
      return answer.status === 404 ? null : { etag: etagOf(answer) as string, body: answer.body };
    },
    async put(key, body, condition) {
      const sent = { method: "PUT", target: `/photos/${key}`, body };
      const headers = conditionHeaders(condition?.value);
      // A put whose object is absent answers 412 too.
      const { status } = await call(client(), { ...sent, headers }, [200, 412]);
      return status === 200;
    },
    async delete(key) {
      await call(client(), { method: "DELETE", target: `/photos/${key}` }, [204]);
    },
  };
}

/** Writes through the endpoint. */
export function throughS3(client: () => Promise<S3TestClient>): Execute {
  return async ({ method, key, body, match }) => {
    const s3 = await client();
    const target = `/photos/${encodeURIComponent(key)}`;
    if (method === "delete") {
      await call(s3, { method: "DELETE", target }, [204]);
      return null;
    }
    if (method === "upload" || method === "abort") {
      return uploadThroughS3(s3, target, body as Uint8Array, method === "abort");
    }
    const headers = method === "put if" ? conditionHeaders(match) : {};
    return etagOf(await call(s3, { method: "PUT", target, body: body, headers }));
  };
}

async function uploadThroughS3(
  client: S3TestClient,
  target: string,
  body: Uint8Array,
  isAborted: boolean,
): Promise<string | null> {
  const made = await call(client, { method: "POST", target: `${target}?uploads` });
  const upload = `uploadId=${/<UploadId>(.*?)</.exec(made.text)?.[1]}`;
  const part = { method: "PUT", target: `${target}?partNumber=1&${upload}`, body };
  const etag = etagOf(await call(client, part)) as string;
  if (isAborted) {
    await call(client, { method: "DELETE", target: `${target}?${upload}` }, [204]);
    return null;
  }
  const list = `<Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part>`;
  const completed = await call(client, {
    method: "POST",
    target: `${target}?${upload}`,
    body: `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`,
  });
  return /<ETag>(?:&quot;)?(.*?)(?:&quot;)?<\/ETag>/.exec(completed.text)?.[1] as string;
}

/** @param value the etag that the object must have; `null`: the object must not exist */
function conditionHeaders(value: string | null | undefined): Record<string, string> {
  if (value === undefined) return {};
  return value === null ? { "if-none-match": "*" } : { "if-match": `"${value}"` };
}

async function call(
  client: S3TestClient,
  sent: Sent,
  accepted: readonly number[] = [200],
): Promise<Received> {
  const answer = await client.send(sent);
  if (accepted.includes(answer.status)) return answer;
  throw new Error(`${sent.method ?? "GET"} ${sent.target}: ${answer.status} ${answer.text}`);
}

function etagOf({ headers }: Received): string | null {
  return headers.etag?.replaceAll('"', "") ?? null;
}
