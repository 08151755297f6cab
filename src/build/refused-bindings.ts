/** What a script uses that workerd alone does not have: a sentence for each. */
import { linesIf } from "../base/format.ts";
import type { Table } from "../base/schema.ts";
import type { UploadedBinding } from "./script-bundle.ts";

/** The bindings that `ledge build` writes, by their type in the upload. */
const supportedTypes: ReadonlySet<string> = new Set([
  "plain_text",
  "json",
  "durable_object_namespace",
]);

/** What the types of bindings are called; another type is named as it is. */
const kinds: Readonly<Record<string, string>> = {
  r2_bucket: "an R2 bucket",
  d1: "a D1 database",
  queue: "a queue",
  service: "a service of another script",
  assets: "a folder of static assets",
  hyperdrive: "a Hyperdrive configuration",
  analytics_engine: "an Analytics Engine dataset",
  workflow: "a workflow",
  send_email: "an email sender",
  ratelimit: "a rate limit",
  vectorize: "a Vectorize index",
  ai: "an AI model",
  browser: "a browser",
  images: "the Images service",
  version_metadata: "the metadata of a version",
  secrets_store_secret: "a secret of the Secrets Store",
  dispatch_namespace: "a dispatch namespace",
  mtls_certificate: "a client certificate",
  worker_loader: "a loader of workers",
};

const remedy =
  "Give the build an environment without it (ledge build --env NAME): environments inherit no bindings.";

/**
 * @param hasNamespaces whether a remote has the KV namespaces
 * @returns a sentence for each binding that the build cannot have
 */
export function refusedBindings(
  bindings: readonly UploadedBinding[],
  hasNamespaces: boolean,
): string[] {
  return bindings.flatMap(({ name, type, script_name: script }) => {
    if (type === "durable_object_namespace" && typeof script === "string") {
      return [
        `The binding "${name}" is a Durable Object of the script "${script}", and the build has one ` +
          `script. ${remedy}`,
      ];
    }
    if (supportedTypes.has(type)) return [];
    if (type === "kv_namespace") {
      if (hasNamespaces) return [];
      return [
        `The binding "${name}" is a KV namespace, and no remote has a bucket for it: add kv_bucket = ` +
          '"BUCKET" to a table [remotes.NAME], whose S3 service has the bucket. Or give the build an ' +
          "environment without the binding (ledge build --env NAME).",
      ];
    }
    if (type === "inherit") {
      return [
        `The binding "${name}" names no resource, which a deploy would create: add the id of the KV ` +
          `namespace. ${remedy}`,
      ];
    }
    const kind = kinds[type] ?? `of the type "${type}"`;
    return [`The binding "${name}" is ${kind}, which workerd alone does not have. ${remedy}`];
  });
}

const servedElsewhere =
  "serve static files from the load balancer or from a bucket (docs/production.md has a configuration of nginx)";

/** @returns a sentence for each other part of the configuration that the build cannot have */
export function refusedKeys(table: Table): string[] {
  const sentences: Readonly<Record<string, string>> = {
    assets: servedElsewhere,
    site: servedElsewhere,
    containers: "run the containers by themselves",
    workflows: "a workflow needs the deployed platform",
  };
  return Object.entries(sentences)
    .filter(([key]) => isPresent(table[key]))
    .map(
      ([key, advice]) =>
        `The configuration has "${key}", which workerd alone does not have: ${advice}, and remove ` +
        "the key from the environment of the build. Environments inherit the key from the top level.",
    );
}

/** @returns a sentence for each part of the configuration that has no effect in the build */
export function ineffectiveKeys(table: Table): string[] {
  const { triggers, queues, tail_consumers: tails } = table as Readonly<Record<string, Table>>;
  return [
    ...linesIf(
      isPresent(triggers?.["crons"]),
      "workerd starts no scheduled handlers: triggers.crons has no effect.",
    ),
    ...linesIf(
      isPresent(queues?.["consumers"]),
      "workerd consumes no queues: queues.consumers has no effect.",
    ),
    ...linesIf(isPresent(tails), "The build has no tail workers: tail_consumers has no effect."),
  ];
}

function isPresent(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}
