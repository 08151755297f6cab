/** The conformance suite inside workerd, on the `env` of a script in the vitest pool. */
import { env } from "cloudflare:workers";
import type { ConformanceEnv } from "./environment.ts";
import { subjectOf } from "./environment.ts";
import { storeBucketSuite } from "./suite/index.ts";

storeBucketSuite(
  subjectOf(
    { name: "in workerd", runtime: "workerd" },
    async () => env as unknown as ConformanceEnv,
  ),
);
