import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { newsOf, readConfig, type ProjectConfig, type ReadConfigOptions } from "./read-config.ts";

let folder: string;
beforeEach(() => void (folder = temporaryFolder()));

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

function read(toml: string, options: ReadConfigOptions = {}): ProjectConfig {
  write("wrangler.toml", toml);
  return readConfig({ folder, ...options });
}

/** The values of a table without listeners and secondaries. */
const dnsDefaults = {
  listen: { hosts: ["127.0.0.1", "::1"], hostsOptional: true, resolvers: [] },
  transfers: { keys: [], allow: ["127.0.0.1", "::1"], secondaries: [] },
};

describe("readConfig()", () => {
  const project = `
name = "photos"
compatibility_date = "2026-08-01"
vars = { A = "1" }
[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
preview_bucket_name = "photos-preview"
storage_class = "InfrequentAccess"
[[store_buckets]]
binding = "same"
bucket_name = "photos"
[dns]
api_port = 1
port = 2
binding = "DNS"
[env.staging]
vars = { B = "2" }
[[env.staging.store_buckets]]
binding = "PHOTOS"
bucket_name = "staging"
[env.bare]
name = "other"
dns.port = 3
`;

  it("reads buckets and DNS", () => {
    const config = read(project);
    expect(config).toMatchObject({ path: join(folder, "wrangler.toml"), folder, warnings: [] });
    expect(config.environment).toBeUndefined();
    expect(config.buckets).toEqual([
      {
        binding: "PHOTOS",
        bucketName: "photos",
        previewBucketName: "photos-preview",
        storageClass: "InfrequentAccess",
      },
      { binding: "same", bucketName: "photos" },
    ]);
    expect(config.dns).toEqual({
      table: { api_port: 1, port: 2, binding: "DNS" },
      variables: { DNS_CONFIG: '{"api_port":1,"port":2,"binding":"DNS"}' },
      apiPort: 1,
      httpsPort: null,
      tlsPort: null,
      port: 2,
      binding: "DNS",
      ...dnsDefaults,
    });
  });

  it("reads the options of a binding for stock tools as [dns], unless [dns] exists", () => {
    const binding = `[[unsafe.bindings]]
name = "OTHER"
type = "other"
[[unsafe.bindings]]
name = "DNS"
type = "dns"
[unsafe.bindings.dev]
plugin = { package = "ledge/plugin", name = "dns" }
options = { port = 4, binding = "X" }
`;
    const { dns } = read(binding);
    expect(dns).toMatchObject({ table: { port: 4, binding: "X" }, port: 4 });
    // The binding exists already.
    expect(dns.binding).toBeUndefined();
    expect(read(`${binding}[dns]\nport = 5`).dns).toMatchObject({ port: 5 });
    expect(() => read(binding.replace("port = 4", "prot = 4"))).toThrow(
      /unsafe\.bindings\[1\]\.dev\.options\.prot is not a key; did you mean "port"\?/,
    );
  });

  it("lets an environment inherit the keys that wrangler inherits, and DNS", () => {
    const config = read(project, { environment: "staging" });
    expect(config.environment).toBe("staging");
    expect(config.table).toMatchObject({
      name: "photos-staging",
      compatibility_date: "2026-08-01",
      vars: { B: "2" },
    });
    expect(config.table).not.toHaveProperty("env");
    expect(config.buckets).toEqual([{ binding: "PHOTOS", bucketName: "staging" }]);
    expect(config.dns.binding).toBe("DNS");
  });

  it("warns of an environment without the buckets of the top level", () => {
    const config = read(project, { environment: "bare" });
    expect(config.table).toMatchObject({ name: "other" });
    expect(config.table).not.toHaveProperty("vars");
    expect(config.buckets).toEqual([]);
    expect(config.dns.port).toBe(3);
    expect(config.warnings).toEqual([
      'Environment "bare" has no buckets: environments do not inherit store_buckets (line 5). ' +
        "Add the key to env.bare, even as an empty list.",
    ]);
    const empty = read(`${project}store_buckets = []`, { environment: "bare" });
    expect(empty.warnings).toEqual([]);
  });

  it("reads the secrets of DNS from .dev.vars, or from the file of the environment", () => {
    write(".dev.vars", "DNS_KEY=common-0123456789\nOTHER=x");
    write(".dev.vars.staging", 'DNS_TOKENS=[{"token":"some-token"}]');
    expect(read(project).dns.variables).toMatchObject({ DNS_KEY: "common-0123456789" });
    expect(read(project, { environment: "staging" }).dns.variables).toEqual({
      DNS_CONFIG: '{"api_port":1,"port":2,"binding":"DNS"}',
      DNS_TOKENS: '[{"token":"some-token"}]',
    });
  });

  it("returns the defaults without a file", () => {
    expect(readConfig({ folder })).toEqual({
      path: null,
      folder,
      source: {},
      table: {},
      buckets: [],
      dns: {
        table: {},
        variables: { DNS_CONFIG: "{}" },
        apiPort: 8788,
        httpsPort: null,
        tlsPort: null,
        port: 8053,
        ...dnsDefaults,
      },
      s3: { hosts: [], cors: [] },
      edge: { origins: [], country: null, hosts: [] },
      state: { seed: null },
      routes: [],
      warnings: [],
      notices: [],
    });
  });

  it("has a notice of a bucket name that only the deployed service refuses, once", () => {
    const table = `[[store_buckets]]\nbinding = "A"\nbucket_name = "My_photos"\n
[[store_buckets]]\nbinding = "B"\nbucket_name = "photos-2"`;
    const config = read(table);
    expect(config.notices).toEqual([
      `${join(folder, "wrangler.toml")}:3:1: store_buckets[0].bucket_name "My_photos" works locally, but the ` +
        "deployed service refuses this name. There, a name has 3 to 63 lower-case letters, digits and " +
        "hyphens, and begins and ends with a letter or a digit. This is said once.",
    ]);
    mkdirSync(join(folder, "node_modules"));
    expect(newsOf(config)).toEqual(config.notices);
    expect(newsOf(config)).toEqual([]);
    // Another line is no news, and another name is.
    expect(newsOf(read(`\n${table}`))).toEqual([]);
    expect(newsOf(read(table.replace("My_", "No_")))).toHaveLength(1);
    for (const name of ["a", "ab", "a.b", "a--b", "0-9"]) {
      const { notices } = read(`[[store_buckets]]\nbinding = "A"\nbucket_name = "${name}"`);
      expect(notices).toHaveLength(name.includes("-") ? 0 : 1);
    }
  });

  it("reads [s3], and its credentials from .dev.vars", () => {
    const table = `
[s3]
port = 9000
access_key_id = "in-the-file"
secret_access_key = "a secret"
hosts = ["Store.test"]
[[s3.cors]]
allowed_origins = ["http://localhost:3000"]
allowed_methods = ["GET", "PUT"]
`.replace("a secret", "secret-in-the-file");
    expect(read(table).s3).toEqual({
      port: 9000,
      credentials: { accessKeyId: "in-the-file", secretAccessKey: "secret-in-the-file" },
      secretPlace: "secret_access_key of [s3]",
      hosts: ["store.test"],
      cors: [
        {
          allowedOrigins: ["http://localhost:3000"],
          allowedMethods: ["GET", "PUT"],
          allowedHeaders: [],
          exposeHeaders: [],
        },
      ],
    });
    write(".dev.vars", "S3_ACCESS_KEY_ID=own\nS3_SECRET_ACCESS_KEY=own-secret");
    expect(read(table).s3).toMatchObject({
      credentials: { accessKeyId: "own", secretAccessKey: "own-secret" },
      secretPlace: "S3_SECRET_ACCESS_KEY of your secrets file",
    });
    write(".dev.vars", "S3_SECRET_ACCESS_KEY=short");
    expect(() => read(table)).toThrow(".dev.vars: S3_SECRET_ACCESS_KEY must be 8 to 256");
  });

  const deployed = `
[[store_buckets]]
binding = "PHOTOS"
bucket_name = "local"
[[r2_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
[[r2_buckets]]
binding = "LOGS"
bucket_name = "logs"
[env.production]
r2_buckets = [{ binding = "PHOTOS", bucket_name = "production" }]
`;

  it("reads a binding that a deploy has too, with the listings of the deployed service", () => {
    expect(read(deployed).buckets).toEqual([
      { binding: "PHOTOS", bucketName: "local", listTrailingDelimiter: true },
    ]);
    const own = deployed.replace('"local"', '"local"\nlist_trailing_delimiter = false');
    expect(read(own).buckets).toMatchObject([{ listTrailingDelimiter: false }]);
  });

  it("with adopt, adds the buckets of the deploy", () => {
    expect(read(deployed, { adopt: true }).buckets).toEqual([
      { binding: "PHOTOS", bucketName: "local", listTrailingDelimiter: true },
      { binding: "LOGS", bucketName: "logs", listTrailingDelimiter: true },
    ]);
    expect(read(deployed, { adopt: true, environment: "production" })).toMatchObject({
      buckets: [{ binding: "PHOTOS", bucketName: "production", listTrailingDelimiter: true }],
      warnings: [],
    });
  });

  it("with adopt, reports a name at its place in the file", () => {
    expect(() => read(deployed.replace('"logs"', '"my logs"'), { adopt: true })).toThrow(
      /wrangler\.toml:8:1: r2_buckets\[1\] cannot be adopted: "my logs" is not a valid bucket name/,
    );
  });
});
