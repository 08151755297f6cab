/**
 * What the S3 services of this process honour. A service is asked at a start, or at the first write,
 * once for each bucket and prefix; after a failure, the next use asks again.
 */
import { probe, requiredGaps } from "../remote/probe.ts";
import { RemoteError, type S3Transport } from "../remote/s3-transport.ts";
import type { RemoteFeatures, RemoteAccess } from "../remote/remote-options.ts";
import { S3Connection } from "../remote/s3-connection.ts";

/** By the place and the credentials. */
const probed = new Map<string, Promise<RemoteFeatures>>();

/** @throws RemoteError for a service that cannot be used, or that lacks what the bucket needs */
export async function probeRemote(
  access: RemoteAccess,
  transport: S3Transport,
): Promise<RemoteFeatures> {
  const { credentials, accept, ...place } = access;
  const key = JSON.stringify([place, credentials]);
  let features = probed.get(key);
  if (features === undefined) {
    features = probe(new S3Connection(place, credentials, transport));
    probed.set(key, features);
    features.catch(() => probed.delete(key));
  }
  const problem = requiredGaps(place, await features, accept);
  if (problem !== null) throw new RemoteError("refused", problem);
  return features;
}
