/** Other programs that use the buckets and zones of a served project. */
import type { ProjectInfo } from "../../../src/explorer/api/project.ts";
import { Client } from "../../dns/support/client.ts";
import type { S3TestClient } from "../../s3/support/s3-client.ts";
import { s3ClientOf } from "../../s3/support/served-s3.ts";
import type { ServedProject } from "./served-project.ts";

/** A program that uses the S3-compatible API. */
export async function s3Of({ dev }: ServedProject): Promise<S3TestClient> {
  const summary = await dev.summary();
  return s3ClientOf({ waitForOutput: async (pattern) => found(pattern, summary) });
}

/** A program that uses the record API. */
export async function recordApiOf({ dev }: ServedProject): Promise<Client> {
  const summary = await dev.summary();
  return new Client(found(/^DNS API +(\S+)$/m, summary)[1] as string, {
    "x-auth-email": found(/^ {2}e-mail +(\S+)$/m, summary)[1] as string,
    "x-auth-key": found(/^ {2}key +(\S+)$/m, summary)[1] as string,
  });
}

/** Asks the name server by HTTP. The status is 2 for SERVFAIL, and 3 for NXDOMAIN. */
export async function askByHttp(project: ServedProject, name: string, type: string) {
  const { dns } = await project.call<ProjectInfo>("/api/project");
  const query = new URLSearchParams({ name, type });
  const response = await fetch(new URL(`/dns-query?${query.toString()}`, dns?.apiUrl), {
    headers: { accept: "application/dns-json" },
  });
  return (await response.json()) as { Status: number; Answer?: { data: string }[] };
}

function found(pattern: RegExp, text: string): RegExpExecArray {
  const match = pattern.exec(text);
  if (match === null) throw new Error(`The summary has nothing like ${pattern}:\n${text}`);
  return match;
}
