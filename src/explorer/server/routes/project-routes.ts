/** The project, for the frame of the page. */
import { packageVersion } from "../../../base/package-version.ts";
import type { ProjectInfo, S3Access } from "../../api/project.ts";
import type { S3Signer, ExplorerCall, Route } from "../context.ts";
import { json, type ExplorerResponse } from "../call.ts";

async function describe({ context }: ExplorerCall): Promise<ExplorerResponse> {
  const served = context.s3();
  return json({
    ...(await context.project()),
    version: packageVersion(),
    s3: served && accessOf(served),
  } satisfies ProjectInfo);
}

function accessOf({ url, credentials: { accessKeyId, secretAccessKey } }: S3Signer): S3Access {
  return { url, accessKeyId, secretAccessKey };
}

export const projectRoutes: readonly Route[] = [
  { method: "GET", path: "/api/project", handle: describe },
];
