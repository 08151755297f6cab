/**
 * The bindings of buckets on S3 services, and the services behind them.
 *
 *     env.PHOTOS ──▶ StoreBucket (an extension module) ──▶ internet (Miniflare's network service)
 *                                                     └──▶ store:spool (a folder)
 *
 * No owner and no database takes part: a Miniflare whose buckets are all remote does not use the store.
 */
import { bindingModuleName } from "./plugin-bindings.ts";
import { join } from "node:path";
import type { PluginServicesOptions, Service, Worker_Binding } from "miniflare";
import { callingMiniflare } from "../../base/miniflare.ts";
import { makePrivateFolder } from "../../base/private-files.ts";
import { removeLeftFolders } from "../../base/processes.ts";
import { remotePlace, type ProjectRemote } from "../../store/config/remotes.ts";
import type { BucketSettings } from "../../store/core/operations.ts";
import { requireRemote } from "../../store/node/remote-buckets.ts";
import { pluginName } from "./store-services.ts";

const spoolService = "store:spool";
/** Miniflare's service for `fetch()`: it trusts the certificates of `NODE_EXTRA_CA_CERTS` too. */
const networkService = "internet";

export interface RemoteBindingOptions {
  readonly remote: ProjectRemote;
  readonly bucket: { readonly bucketName: string; readonly runId: string };
  readonly settings: BucketSettings;
  readonly observed: boolean;
}

/** @throws UserError when the service cannot be used, or lacks what a bucket needs */
export async function remoteBinding(
  name: string,
  { remote, bucket, settings, observed }: RemoteBindingOptions,
): Promise<Worker_Binding> {
  const place = remotePlace(remote, bucket.bucketName);
  const { credentials, accept } = remote;
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const features = await requireRemote({ ...place, credentials, accept });
  return {
    name,
    wrapped: {
      moduleName: bindingModuleName("store-remote-binding", observed),
      innerBindings: [
        { name: "remote", json: JSON.stringify({ ...place, features }) },
        { name: "accessKeyId", text: accessKeyId },
        { name: "secretAccessKey", text: secretAccessKey },
        ...(sessionToken === undefined ? [] : [{ name: "sessionToken", text: sessionToken }]),
        { name: "network", service: { name: networkService } },
        { name: "spool", service: { name: spoolService } },
        { name: "bucket", json: JSON.stringify(bucket) },
        { name: "settings", json: JSON.stringify(settings) },
      ],
    },
  };
}

export function remoteServices({ sharedOptions, tmpPath }: PluginServicesOptions): Service[] {
  const { resourcePersistencePath: persistPath } = sharedOptions;
  const folder = callingMiniflare().getPersistPath(pluginName, tmpPath, persistPath);
  return [{ name: spoolService, disk: { path: makeSpool(folder), writable: true } }];
}

/**
 * The folder of this process, in which streams wait. A file is removed when it was sent, so the folder of a
 * process that has ended has only files that a crash has left.
 */
function makeSpool(storeFolder: string): string {
  const folder = join(storeFolder, "spool");
  makePrivateFolder(folder);
  removeLeftFolders(folder, /^(\d+)$/);
  const own = join(folder, String(process.pid));
  makePrivateFolder(own);
  return own;
}
