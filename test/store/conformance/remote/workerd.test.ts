/** The conformance suite inside workerd, on buckets of the S3 service of `service-setup.ts`. */
import { env } from "cloudflare:workers";
import { inject } from "vitest";
import { deviationsOn } from "../../remote.expectations.ts";
import { storeBucketSuite } from "../suite/index.ts";
import type { ConformanceEnv } from "../suite/subject.ts";

storeBucketSuite({
  name: "remote, in workerd",
  runtime: "workerd",
  environment: async () => env as unknown as ConformanceEnv,
  deviations: deviationsOn(inject("service").name),
});
