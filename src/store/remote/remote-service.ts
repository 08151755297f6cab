/** Which service a bucket is on, as far as a cheap question tells. What another service honours is asked again. */
import { childText } from "../../http/xml.ts";
import { parseDocument, readText } from "./s3-answer.ts";
import type { S3Connection } from "./s3-connection.ts";
import type { RemoteService } from "./remote-options.ts";
import { RemoteError } from "./s3-transport.ts";

/** @throws RemoteError for a service that does not answer */
export async function identifyService(connection: S3Connection): Promise<RemoteService> {
  try {
    const answer = await connection.send({ method: "GET", query: [["versioning", ""]] });
    const document = parseDocument(await readText(answer));
    return {
      server: answer.headers.get("server") ?? "",
      versioning:
        answer.status === 200 && document?.name === "VersioningConfiguration"
          ? versioningOf(childText(document, "Status"))
          : "unknown",
    };
  } catch (error) {
    const status = error instanceof RemoteError ? error.status : null;
    // A key that may not ask, or a service without versions.
    if (status === 403) return { server: "", versioning: "unknown" };
    if (status === 501 || status === 405) return { server: "", versioning: "off" };
    throw error;
  }
}

function versioningOf(status: string | null): RemoteService["versioning"] {
  if (status === "Enabled") return "enabled";
  return status === "Suspended" ? "suspended" : "off";
}
