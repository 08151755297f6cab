/**
 * The keys of wrangler's configuration: all keys, the keys that an environment does not inherit,
 * and the paths of names in `env`. A test compares the lists with the schema that wrangler ships.
 */

/** The keys that an environment does not inherit from the top level. */
export const notInherited: ReadonlySet<string> = new Set(
  words(`
    agent_memory ai ai_search ai_search_namespaces analytics_engine_datasets artifacts browser
    cloudchamber containers d1_databases define dispatch_namespaces durable_objects flagship
    hyperdrive images kv_namespaces media mtls_certificates pipelines queues r2_buckets ratelimits
    secrets secrets_store_secrets send_email services stream streaming_tail_consumers tail_consumers
    unsafe unsafe_hello_world vars vectorize version_metadata vpc_networks vpc_services websearch
    worker_loaders workflows
  `),
);

/** The keys that an environment inherits from the top level unless it has them too. */
const inherited = words(`
  access account_id assets base_dir build cache compatibility_date compatibility_flags
  compliance_region exports find_additional_modules first_party_worker jsx_factory jsx_fragment
  keep_names limits logfwdr logpush main migrations minify name no_bundle observability placement
  preserve_file_names preview_urls previews python_modules route routes rules triggers tsconfig
  upload_source_maps workers_dev
`);

const topLevelOnly = words(`
  $schema addresses alias data_blobs dependencies_instrumentation dev env keep_vars
  pages_build_output_dir send_metrics site text_blobs wasm_modules
`);

export const wranglerKeys: readonly string[] = [...notInherited, ...inherited, ...topLevelOnly];

/**
 * The paths of names in `env`: `*` is every item of a list, and a final `{}` says that the keys of
 * the table are the names.
 */
export const bindingPaths: readonly string[] = words(`
  agent_memory.*.binding ai.binding ai_search.*.binding ai_search_namespaces.*.binding
  analytics_engine_datasets.*.binding artifacts.*.binding assets.binding browser.binding
  d1_databases.*.binding data_blobs.{} dispatch_namespaces.*.binding
  durable_objects.bindings.*.name flagship.*.binding hyperdrive.*.binding images.binding
  kv_namespaces.*.binding logfwdr.bindings.*.name media.binding mtls_certificates.*.binding
  pipelines.*.binding queues.producers.*.binding r2_buckets.*.binding ratelimits.*.name
  secrets.required.* secrets_store_secrets.*.binding send_email.*.name services.*.binding
  stream.binding text_blobs.{} unsafe.bindings.*.name unsafe_hello_world.*.binding vars.{}
  vectorize.*.binding version_metadata.binding vpc_networks.*.binding vpc_services.*.binding
  wasm_modules.{} websearch.binding worker_loaders.*.binding workflows.*.binding
`);

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
