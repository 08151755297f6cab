/** The S3-compatible API that a process serves, by the address and the credentials that it prints. */
import { S3TestClient } from "./s3-client.ts";

interface PrintingProcess {
  /** Waits until the output from position `since` on matches `pattern`. */
  waitForOutput(pattern: RegExp, since?: number): Promise<RegExpExecArray>;
}

/** @param secret of the user: it is not printed */
export async function s3ClientOf(
  child: PrintingProcess,
  since = 0,
  secret?: string,
): Promise<S3TestClient> {
  const printed = async (pattern: RegExp): Promise<string> =>
    (await child.waitForOutput(pattern, since))[1] as string;
  return new S3TestClient({
    port: Number(await printed(/^S3 API +\S+:(\d+)$/m)),
    credentials: {
      accessKeyId: await printed(/^ {2}key id +(\S+)$/m),
      secretAccessKey: secret ?? (await printed(/^ {2}secret +(\S+)$/m)),
    },
  });
}
