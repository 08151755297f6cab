/**
 * The configuration of workerd for a script whose buckets are on S3 services.
 *
 *     socket "http" ──▶ service "script" ── env.PHOTOS ──▶ the binding (an extension module)
 *                                                            ├──▶ "s3", a network: the S3 services
 *                                                            └──▶ "spool", a folder: large content
 *
 * Secrets are not in the configuration: workerd reads them from its environment when it starts.
 */
import { EmbeddedFile, indentedCapnpText, workerdConfigFile } from "../base/capnp-text.ts";
import type { BucketSettings } from "../store/core/operations.ts";
import type { RemoteFeatures, RemotePlace } from "../store/remote/remote-options.ts";
import type { ObjectClass } from "./durable-objects.ts";
import type { ScriptBundle, ScriptModule, UploadedBinding } from "./script-bundle.ts";

export interface EdgeBucket {
  readonly binding: string;
  readonly place: RemotePlace;
  readonly features: RemoteFeatures;
  readonly settings: BucketSettings;
  /** The names of the environment's variables. */
  readonly variables: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken: string;
  };
}

export interface EdgeScript {
  readonly bundle: ScriptBundle;
  readonly buckets: readonly EdgeBucket[];
  /** The names of bindings whose values come from the environment. */
  readonly secrets: readonly string[];
  readonly objects: readonly ObjectClass[];
  /** Certificates of authorities that S3 services use, in PEM, besides those that browsers trust. */
  readonly authorities: readonly string[];
  /** `127.0.0.1:8080` */
  readonly address: string;
}

/** Relative to the folder of the build. */
export const edgePaths = {
  config: "workerd.capnp",
  modules: "modules",
  extension: "ledge/store-remote-binding.js",
  spool: "spool",
  objects: "objects",
  notes: "README.md",
} as const;

const extensionModule = "ledge-internal:store-remote-binding";
const [scriptService, networkService] = ["script", "s3"];
/** Names of blobs begin with it. The rest of a name is random, so all runtimes can have the same. */
const runId = "0".repeat(16);

export function edgeConfigFile(script: EdgeScript): string {
  return (
    `# Written by ledge build. Start it in this folder: workerd serve ${edgePaths.config}\n` +
    `# Options of workerd replace places: --socket-addr=http=127.0.0.1:8080 --directory-path=spool=DIR\n` +
    workerdConfigFile(indentedCapnpText(edgeConfig(script)))
  );
}

function edgeConfig({
  bundle,
  buckets,
  secrets,
  objects,
  authorities,
  address,
}: EdgeScript): object {
  const hasBuckets = buckets.length > 0;
  const { compatibilityDate, compatibilityFlags } = bundle;
  return {
    services: [
      {
        name: scriptService,
        worker: {
          compatibilityDate,
          ...(compatibilityFlags.length > 0 && { compatibilityFlags }),
          modules: bundle.modules.map(embedded),
          bindings: [
            ...bundle.bindings.map(plainBinding),
            ...secrets.map((name) => ({ name, fromEnvironment: name })),
            ...buckets.map(bucketBinding),
          ],
          ...(objects.length > 0 && {
            durableObjectNamespaces: objects.map(({ className, uniqueKey, hasSql }) => ({
              className,
              uniqueKey,
              enableSql: hasSql,
            })),
            durableObjectStorage: { localDisk: edgePaths.objects },
          }),
        },
      },
      ...(hasBuckets ? [network(authorities), folderService(edgePaths.spool)] : []),
      ...(objects.length > 0 ? [folderService(edgePaths.objects)] : []),
    ],
    sockets: [{ name: "http", address, http: {}, service: scriptService }],
    ...(hasBuckets && {
      extensions: [
        {
          modules: [
            {
              name: extensionModule,
              internal: true,
              esModule: new EmbeddedFile(edgePaths.extension),
            },
          ],
        },
      ],
    }),
    logging: { structuredLogging: true },
  };
}

/** Private addresses too: a cluster seldom has a public address. */
function network(authorities: readonly string[]): object {
  const trusted = authorities.length > 0 && { trustedCertificates: authorities };
  const tlsOptions = { trustBrowserCas: true, ...trusted };
  return { name: networkService, network: { allow: ["public", "private"], tlsOptions } };
}

function folderService(name: string): object {
  return { name, disk: { path: name, writable: true } };
}

function embedded({ name, type }: ScriptModule): object {
  return { name, [type]: new EmbeddedFile(modulePath(name)) };
}

export function modulePath(name: string): string {
  return `${edgePaths.modules}/${name}`;
}

function plainBinding({ name, type, text, json, class_name: className }: UploadedBinding): object {
  if (type === "plain_text") return { name, text };
  if (type === "json") return { name, json: JSON.stringify(json) };
  return { name, durableObjectNamespace: className };
}

function bucketBinding(bucket: EdgeBucket): object {
  const { binding, place, features, settings, variables } = bucket;
  const { bucketName } = place;
  const access = { bucketName, runId, latencyMilliseconds: 0 };
  return {
    name: binding,
    wrapped: {
      moduleName: extensionModule,
      innerBindings: [
        { name: "remote", json: JSON.stringify({ ...place, features }) },
        { name: "accessKeyId", fromEnvironment: variables.accessKeyId },
        { name: "secretAccessKey", fromEnvironment: variables.secretAccessKey },
        { name: "sessionToken", fromEnvironment: variables.sessionToken },
        { name: "network", service: networkService },
        { name: "spool", service: edgePaths.spool },
        { name: "bucket", json: JSON.stringify(access) },
        { name: "settings", json: JSON.stringify(settings) },
      ],
    },
  };
}

/** The variables of the environment that the runtime needs, and those that it may have. */
export function edgeEnvironment({ buckets, secrets }: Pick<EdgeScript, "buckets" | "secrets">): {
  readonly required: readonly string[];
  readonly optional: readonly string[];
} {
  const required = buckets.flatMap(({ variables }) => [
    variables.accessKeyId,
    variables.secretAccessKey,
  ]);
  const optional = buckets.map(({ variables }) => variables.sessionToken);
  return {
    required: [...new Set([...required, ...secrets])],
    optional: [...new Set(optional)],
  };
}
