/** The check at a start that the S3 services of buckets can be used. */
import { UserError } from "../../base/user-error.ts";
import { RemoteError } from "../remote/s3-transport.ts";
import type { RemoteFeatures, RemoteAccess } from "../remote/remote-options.ts";
import { createHttpTransport } from "./http-transport.ts";
import { probeRemote } from "./probed-remotes.ts";

/** @throws UserError when the service cannot be used, or lacks what a bucket needs */
export async function requireRemote(access: RemoteAccess): Promise<RemoteFeatures> {
  const transport = createHttpTransport();
  try {
    return await probeRemote(access, transport.send);
  } catch (error) {
    throw error instanceof RemoteError ? new UserError(error.message, { cause: error }) : error;
  } finally {
    transport.close();
  }
}
