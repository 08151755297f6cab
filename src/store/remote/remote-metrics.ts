/**
 * What happens between a script and its buckets on S3 services, for operators: counters, which cost an increment
 * and become the text of OpenMetrics when they are read, and a line of the log for what is rare.
 *
 * An *operation* is a call of the script, such as `put`. It sends *requests*, named as in S3's API.
 */
import { StoreError, type ServiceFailure } from "../core/errors.ts";
import type { S3Request } from "./s3-connection.ts";
import {
  type RemoteError,
  type S3Answer,
  type S3Message,
  type S3Transport,
} from "./s3-transport.ts";

/** A line of the log. Fields without a value are left out. */
export interface RemoteEvent {
  readonly event: "request" | "retry" | "conflict" | "unknown outcome";
  /** The operation, or the request. */
  readonly name: string;
  readonly key?: string;
  /** Of the answer; `null` without an answer. */
  readonly status?: number | null;
  /** By which the service names the request in its log. */
  readonly requestId?: string;
  /** How many attempts have failed. */
  readonly attempt?: number;
  readonly milliseconds?: number;
  readonly message?: string;
}

/** The upper bounds of the classes of durations, in seconds: from an answer of memory to the last timeout. */
const secondsBounds = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The number of durations by their class; the last class has no bound. */
interface Durations {
  seconds: number;
  readonly counts: number[];
}

type Outcome = "ok" | "refused" | "failed" | "unknown";

const readOperations: ReadonlySet<string> = new Set(["get", "head", "list", "stats"]);

export class RemoteMetrics {
  /** By the values of the labels, as a list of JSON. */
  readonly operations = new Map<string, number>();
  readonly operationDurations = new Map<string, Durations>();
  readonly requests = new Map<string, number>();
  readonly requestDurations = new Map<string, Durations>();
  readonly retries = new Map<string, number>();
  readonly conflicts = new Map<string, number>();
  requestsInFlight = 0;
  readonly #log: (event: RemoteEvent) => void;
  readonly #now: () => number;

  constructor(log: (event: RemoteEvent) => void = () => {}, now = () => Date.now()) {
    this.#log = log;
    this.#now = now;
  }

  async measure<Value>(
    name: string,
    key: string | undefined,
    work: () => Promise<Value>,
  ): Promise<Value> {
    const started = this.#now();
    const end = (outcome: Outcome): number => {
      const milliseconds = this.#now() - started;
      increment(this.operations, name, outcome);
      observe(this.operationDurations, milliseconds, name);
      return milliseconds;
    };
    try {
      const value = await work();
      end("ok");
      return value;
    } catch (error) {
      const outcome = outcomeOf(name, error);
      const milliseconds = end(outcome);
      if (outcome === "unknown") {
        const { message } = error as Error;
        this.#log({ event: "unknown outcome", name, key, milliseconds, message });
      }
      throw error;
    }
  }

  /** Counts the requests that are sent by a transport. A request lasts until the head of its answer. */
  transport(send: S3Transport): S3Transport {
    return async (message) => {
      const started = this.#now();
      this.requestsInFlight++;
      let answer: S3Answer | null = null;
      try {
        answer = await send(message);
        return answer;
      } finally {
        this.requestsInFlight--;
        this.#answered(message, answer, this.#now() - started);
      }
    };
  }

  #answered(message: S3Message, answer: S3Answer | null, milliseconds: number): void {
    const { key, query } = partsOf(message.target);
    const name = requestName(message.method, key !== undefined, query);
    const status = answer?.status ?? null;
    increment(this.requests, name, String(status ?? "none"));
    observe(this.requestDurations, milliseconds, name);
    const requestId = answer?.headers.get("x-amz-request-id") ?? undefined;
    const fields = { name, key, status, requestId, milliseconds };
    this.#log({ event: "request", ...fields });
    const isWrite = message.method !== "GET" && message.method !== "HEAD";
    if (isWrite && (status === 409 || status === 412)) {
      increment(this.conflicts, name);
      this.#log({ event: "conflict", ...fields });
    }
  }

  /** @param attempt how many attempts have failed */
  retry({ method, key, query = [] }: S3Request, attempt: number, error: RemoteError): void {
    const name = requestName(method, key !== undefined, new Map(query));
    increment(this.retries, name);
    const { status, requestId, message } = error;
    this.#log({ event: "retry", name, key, status, requestId, attempt, message });
  }
}

function outcomeOf(operation: string, error: unknown): Outcome {
  if (error instanceof StoreError && error.failure === undefined) return "refused";
  const failure = error instanceof StoreError ? error.failure : error;
  const isUnknown = (failure as Partial<ServiceFailure>).outcome === "unknown";
  return isUnknown && !readOperations.has(operation) ? "unknown" : "failed";
}

/**
 * The name of a request in S3's API.
 *
 * @param isObject whether the request is about a key, and not about the bucket
 */
export function requestName(
  method: S3Message["method"],
  isObject: boolean,
  query: { has(name: string): boolean },
): string {
  switch (method) {
    case "HEAD":
      return isObject ? "HeadObject" : "HeadBucket";
    case "PUT":
      return query.has("partNumber") ? "UploadPart" : "PutObject";
    case "DELETE":
      return query.has("uploadId") ? "AbortMultipartUpload" : "DeleteObject";
    case "POST":
      if (!isObject) return "DeleteObjects";
      return query.has("uploads") ? "CreateMultipartUpload" : "CompleteMultipartUpload";
    case "GET":
      if (isObject) return query.has("uploadId") ? "ListParts" : "GetObject";
      if (query.has("uploads")) return "ListMultipartUploads";
      if (query.has("versioning")) return "GetBucketVersioning";
      return query.has("versions") ? "ListObjectVersions" : "ListObjectsV2";
  }
}

/** `/bucket/key?query` */
function partsOf(target: string) {
  const [path = "", query = ""] = target.split("?");
  const encoded = /^\/[^/]*\/(.+)$/.exec(path)?.[1];
  const key = encoded === undefined ? undefined : decodeURIComponent(encoded);
  return { key, query: new URLSearchParams(query) };
}

function increment(counter: Map<string, number>, ...labels: readonly string[]): void {
  const key = JSON.stringify(labels);
  counter.set(key, (counter.get(key) ?? 0) + 1);
}

function observe(
  histogram: Map<string, Durations>,
  milliseconds: number,
  ...labels: readonly string[]
): void {
  const key = JSON.stringify(labels);
  let durations = histogram.get(key);
  if (durations === undefined) {
    durations = { seconds: 0, counts: Array.from({ length: secondsBounds.length + 1 }, () => 0) };
    histogram.set(key, durations);
  }
  const seconds = milliseconds / 1000;
  durations.seconds += seconds;
  const found = secondsBounds.findIndex((bound) => seconds <= bound);
  const index = found === -1 ? secondsBounds.length : found;
  durations.counts[index] = (durations.counts[index] as number) + 1;
}

type Sample = readonly [suffix: string, labels: Readonly<Record<string, string>>, value: number];

/** @param metrics by the names of the bindings */
export function metricsText(metrics: ReadonlyMap<string, RemoteMetrics>): string {
  const counter = (
    name: string,
    help: string,
    labels: readonly string[],
    of: (each: RemoteMetrics) => ReadonlyMap<string, number>,
  ): string =>
    family("counter", name, help, ([binding, each]) =>
      Array.from(of(each), ([key, value]): Sample => [
        "_total",
        labelsOf(binding, labels, key),
        value,
      ]),
    );
  const histogram = (
    name: string,
    help: string,
    label: string,
    of: (each: RemoteMetrics) => ReadonlyMap<string, Durations>,
  ): string =>
    family("histogram", name, help, ([binding, each]) =>
      Array.from(of(each)).flatMap(([key, durations]) =>
        histogramSamples(labelsOf(binding, [label], key), durations),
      ),
    );
  function family(
    type: string,
    name: string,
    help: string,
    samplesOf: (entry: [string, RemoteMetrics]) => readonly Sample[],
  ): string {
    const samples = [...metrics].flatMap(samplesOf);
    const lines = samples.map(([suffix, labels, value]) => {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
      return `${name}${suffix}{${pairs.join(",")}} ${value}\n`;
    });
    return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
  }
  return [
    counter(
      "ledge_store_operations",
      "Calls of the script. Outcomes: ok, refused (by the rules of buckets), failed, unknown (a write).",
      ["operation", "outcome"],
      ({ operations }) => operations,
    ),
    histogram(
      "ledge_store_operation_duration_seconds",
      "From a call of the script to its result, with all requests and pauses.",
      "operation",
      ({ operationDurations }) => operationDurations,
    ),
    counter(
      "ledge_store_requests",
      "Requests to the service, with the status of the answer, or none.",
      ["request", "status"],
      ({ requests }) => requests,
    ),
    histogram(
      "ledge_store_request_duration_seconds",
      "From a request to the head of its answer.",
      "request",
      ({ requestDurations }) => requestDurations,
    ),
    counter(
      "ledge_store_retries",
      "Requests that were sent again after a failure.",
      ["request"],
      ({ retries }) => retries,
    ),
    counter(
      "ledge_store_conflicts",
      "Writes that the service refused because another write came first.",
      ["request"],
      ({ conflicts }) => conflicts,
    ),
    family(
      "gauge",
      "ledge_store_requests_in_flight",
      "Requests without an answer yet.",
      ([binding, { requestsInFlight }]) => [["", { binding }, requestsInFlight]],
    ),
    "# EOF\n",
  ].join("");
}

function labelsOf(binding: string, names: readonly string[], key: string): Record<string, string> {
  const values = JSON.parse(key) as readonly string[];
  return {
    binding,
    ...Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""])),
  };
}

/** The counts of a class contain those of smaller classes. */
function histogramSamples(
  labels: Readonly<Record<string, string>>,
  { seconds, counts }: Durations,
): Sample[] {
  let sum = 0;
  const classes = counts.map((count, index): Sample => {
    sum += count;
    const bound = secondsBounds[index];
    return ["_bucket", { ...labels, le: bound === undefined ? "+Inf" : String(bound) }, sum];
  });
  return [...classes, ["_sum", labels, seconds], ["_count", labels, sum]];
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/**
 * The buckets of a runtime, for its status. The binding and the status are different modules of one isolate, so the
 * map is a property of the global object.
 */
export interface BucketStatus {
  readonly metrics: RemoteMetrics;
  /** @throws RemoteError with a sentence, when the service does not answer or refuses */
  check(): Promise<void>;
}

const mapKey = Symbol.for("ledge:bucket-status");

/** By the names of the bindings. */
export function bucketStatus(): Map<string, BucketStatus> {
  const global = globalThis as { [mapKey]?: Map<string, BucketStatus> };
  return (global[mapKey] ??= new Map());
}
