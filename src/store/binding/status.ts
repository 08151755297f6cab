/**
 * The status of a runtime, which `ledge build` exports as an entrypoint beside those of the script, so that the module
 * runs in the isolate of the bindings.
 *
 * `/healthz`: the process answers. `/readyz`: the service of each bucket answers. `/metrics`: for Prometheus.
 */
import { bucketStatus, metricsText, type BucketStatus } from "../remote/remote-metrics.ts";

/** Several balancers and monitors ask at the same time. */
const keptMilliseconds = 1_000;
/** Balancers wait for some seconds for an answer to a check. */
const checkMilliseconds = 2_000;

interface Readiness {
  readonly at: number;
  /** A sentence for each bucket that is not ready. */
  readonly problems: readonly string[];
}

let readiness: Readiness | null = null;

const openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";

export const LedgeStatus = {
  async fetch(request: Request): Promise<Response> {
    switch (new URL(request.url).pathname) {
      case "/healthz":
        return new Response("ok\n");
      case "/readyz":
        return ready();
      case "/metrics": {
        const metrics = Array.from(
          bucketStatus(),
          ([binding, status]) => [binding, status.metrics] as const,
        );
        return new Response(metricsText(new Map(metrics)), {
          headers: { "content-type": openMetrics },
        });
      }
      default:
        return new Response("There are /healthz, /readyz and /metrics.\n", { status: 404 });
    }
  },
};

async function ready(): Promise<Response> {
  if (readiness === null || Date.now() - readiness.at >= keptMilliseconds) {
    const checks = await Promise.all(Array.from(bucketStatus(), checkBucket));
    readiness = { at: Date.now(), problems: checks.filter((problem) => problem !== null) };
  }
  const { problems } = readiness;
  if (problems.length === 0) return new Response("ok\n");
  return new Response(`${problems.join("\n")}\n`, { status: 503 });
}

/** @returns a sentence, or `null` for a bucket that is ready */
async function checkBucket([binding, status]: [string, BucketStatus]): Promise<string | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<string>((resolve) => {
    const sentence = `the service did not answer within ${checkMilliseconds / 1000} s.`;
    timer = setTimeout(() => resolve(sentence), checkMilliseconds);
  });
  const checked = status.check().then(
    () => null,
    (error: Error) => error.message,
  );
  const problem = await Promise.race([checked, late]);
  clearTimeout(timer);
  return problem === null ? null : `env.${binding}: ${problem}`;
}
