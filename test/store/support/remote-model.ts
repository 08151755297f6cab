/** The model properties and the comparison with R2, on buckets of an S3 service. */
import { randomUUID } from "node:crypto";
import { remoteOptions, type RemoteService } from "../../support/remote-bucket.ts";
import { expectations } from "../differential.expectations.ts";
import { serviceDifferences } from "../remote.expectations.ts";
import { differentialSuite } from "../model/differential-suite.ts";
import { withoutNul } from "../model/generate/sequence.ts";
import { propertySuite } from "../model/property-suite.ts";
import { Runtime } from "../model/runtime.ts";

interface Runs {
  readonly few: number;
  readonly all: number;
}

export interface RemoteModelSubject {
  readonly serviceName: RemoteService["name"];
  readonly service: () => Promise<RemoteService>;
  readonly runs: { readonly properties: Runs; readonly differential: Runs };
}

export function remoteModelSuites({ serviceName, service, runs }: RemoteModelSubject): void {
  const start = async (): Promise<Runtime> => {
    const running = await service();
    const bucket = (): ReturnType<typeof bucketOptions> => bucketOptions(running);
    return Runtime.start({ STORE: bucket(), STORE_TRAILING: bucket() });
  };
  const name = " on an S3 service";
  const own = serviceDifferences[serviceName];
  const takesNul = serviceName !== "ceph";
  const adaptation = takesNul ? {} : { adapt: withoutNul };
  propertySuite({
    name,
    start,
    runs: runs.properties,
    listedKeysMax: 120,
    hasLargeMetadata: false,
    hasCoarseTimes: true,
    ...adaptation,
    expectations: own,
  });
  const all = expectations.filter(({ id }) => takesNul || id !== "nul-in-list").concat(own);
  differentialSuite({
    name,
    start,
    runs: runs.differential,
    expectations: all,
    ...adaptation,
  });
}

/** An empty bucket: a prefix that no other has. The prefix needs to be encoded in requests. */
function bucketOptions(service: RemoteService) {
  return { bucket_name: "model", ...remoteOptions(service, `${randomUUID()}/ü &+%/`) };
}
