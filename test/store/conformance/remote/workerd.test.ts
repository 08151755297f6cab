/** The conformance suite inside workerd, on buckets of the S3 service of `service-setup.ts`. */
import { env } from "cloudflare:workers";
import { inject } from "vitest";
import { deviationsOn } from "../../remote.expectations.ts";
import type { ConformanceEnv } from "../environment.ts";
import { subjectOf } from "../environment.ts";
import { storeBucketSuite } from "../suite/index.ts";

const { name } = inject("service");

storeBucketSuite(
  subjectOf(
    { name: "remote, in workerd", runtime: "workerd", deviations: deviationsOn(name) },
    async () => env as unknown as ConformanceEnv,
  ),
);
