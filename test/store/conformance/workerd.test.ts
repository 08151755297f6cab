/** The conformance suite inside workerd, on the `env` of a script in the vitest pool. */
import { env } from "cloudflare:workers";
import { storeBucketSuite } from "./suite/index.ts";
import type { ConformanceEnv } from "./suite/subject.ts";

storeBucketSuite({
  name: "in workerd",
  runtime: "workerd",
  environment: async () => env as unknown as ConformanceEnv,
});
