import { describe, expect, it } from "vitest";
import { remoteVariables } from "../store/remote/remote-options.ts";
import {
  edgeConfigFile,
  edgeEnvironment,
  type EdgeBucket,
  type EdgeScript,
} from "./edge-folder.ts";

const bucket: EdgeBucket = {
  binding: "PHOTOS",
  place: {
    remote: "cluster",
    endpoint: "https://s3.example.net",
    region: "us-east-1",
    bucketName: "photos",
    prefix: "a/",
  },
  keysFile: null,
  features: {
    putIfMatch: "quoted",
    putIfNoneMatch: true,
    conditionalComplete: true,
    conditionalDelete: true,
    unconditionalPut: "plain",
    unconditionalDelete: true,
    etagIsMd5: true,
    service: { server: "", versioning: "off" },
    seen: {},
  },
  accept: [],
  settings: {
    storageClass: "Standard",
    honorInclude: true,
    trailingDelimiter: false,
    rejectBadArguments: true,
    allowUnsizedStreams: false,
  },
};

const variables = remoteVariables("cluster");

const script: EdgeScript = {
  bundle: {
    modules: [
      { name: "index.js", type: "esModule", content: new Uint8Array() },
      { name: "a.txt", type: "text", content: new Uint8Array() },
    ],
    bindings: [
      { name: "GREETING", type: "plain_text", text: 'say "hi"' },
      { name: "LIMITS", type: "json", json: { max: 1 } },
    ],
    compatibilityDate: "2026-08-01",
    compatibilityFlags: ["nodejs_compat"],
  },
  buckets: [bucket],
  namespaces: [],
  secrets: ["TOKEN"],
  objects: [],
  authorities: [],
  address: "127.0.0.1:8080",
  statusAddress: "127.0.0.1:8081",
};

describe("edgeConfigFile()", () => {
  const text = edgeConfigFile(script);

  it("embeds the modules with their types", () => {
    expect(text).toContain('(name = "index.js", esModule = embed "modules/index.js")');
    expect(text).toContain('(name = "a.txt", text = embed "modules/a.txt")');
  });

  it("has variables as they are, and secrets from the environment", () => {
    expect(text).toContain('(name = "GREETING", text = "say \\x22hi\\x22")');
    expect(text).toContain('(name = "LIMITS", json = "{\\x22max\\x22:1}")');
    expect(text).toContain('(name = "value", fromEnvironment = "TOKEN")');
  });

  it("has a bucket's keys from the environment", () => {
    expect(text).toContain('moduleName = "ledge-internal:store-remote-binding"');
    for (const variable of Object.values(variables)) {
      expect(text).toContain(`fromEnvironment = "${variable}"`);
    }
    expect(text).toContain("\\x22endpoint\\x22:\\x22https://s3.example.net\\x22");
  });

  it("has a bucket's keys from a file", () => {
    const buckets = [{ ...bucket, keysFile: "/run/secrets/cluster.env" }];
    const withFile = edgeConfigFile({ ...script, buckets });
    expect(withFile).toContain('(name = "keys", disk = (path = "/run/secrets"))');
    expect(withFile).toContain('(name = "keysFile", text = "cluster.env")');
    expect(withFile).not.toContain(variables.accessKeyId);
    expect(edgeEnvironment({ namespaces: [], buckets, secrets: [] })).toEqual({
      required: [],
      optional: [],
    });
  });

  it("has the folder of the spool, the network and structured logs", () => {
    expect(text).toContain('(name = "spool", disk = (path = "spool", writable = true))');
    expect(text).toContain('allow = ["public", "private"]');
    expect(text).toContain("logging = (structuredLogging = true)");
    expect(text).not.toContain("durableObject");
  });

  it("trusts the authorities of browsers, or those that are named", () => {
    const pem = "-----BEGIN CERTIFICATE-----\nQQ==\n-----END CERTIFICATE-----\n";
    const withAuthority = edgeConfigFile({ ...script, authorities: [pem] });
    expect(withAuthority).toContain('["-----BEGIN CERTIFICATE-----\\x0aQQ==');
    expect(withAuthority).not.toContain("trustBrowserCas");
    expect(text).toContain("tlsOptions = (trustBrowserCas = true)");
  });

  it("has Durable Objects in a folder", () => {
    const objects = [{ className: "Counter", uniqueKey: "Counter", hasSql: true }];
    const binding = { name: "C", type: "durable_object_namespace", class_name: "Counter" };
    const bundle = { ...script.bundle, bindings: [binding] };
    const withObjects = edgeConfigFile({ ...script, bundle, objects });
    expect(withObjects).toContain('(name = "C", durableObjectNamespace = "Counter")');
    expect(withObjects).toContain('durableObjectStorage = (localDisk = "objects")');
    expect(withObjects).toContain('(name = "objects", disk = (writable = true))');
  });

  it("has a worker over a bucket for a KV namespace", () => {
    const bindings = [{ name: "SESSIONS", type: "kv_namespace", namespace_id: "x" }];
    const bundle = { ...script.bundle, bindings };
    const namespaces = [{ ...bucket, binding: "SESSIONS" }];
    const withNamespace = edgeConfigFile({ ...script, bundle, buckets: [], namespaces });
    expect(withNamespace).toContain('(name = "SESSIONS", kvNamespace = "kv-SESSIONS")');
    expect(withNamespace).toMatch(
      /name = "kv-SESSIONS",\s+worker = \([^]*embed "ledge\/store-namespace\.js"[^]*name = "BUCKET"/,
    );
    expect(withNamespace).toContain('(name = "REMOVES_EXPIRED", json = "true")');
    expect(text).not.toContain("store-namespace");
  });

  it("has neither network nor extension without buckets and secrets", () => {
    const plain = edgeConfigFile({ ...script, buckets: [], secrets: [] });
    expect(plain).not.toMatch(/extensions|spool",|network/);
  });
});

it("edgeEnvironment() names each variable once", () => {
  const second = { ...bucket, binding: "ARCHIVE" };
  expect(edgeEnvironment({ buckets: [bucket], namespaces: [second], secrets: ["TOKEN"] })).toEqual({
    required: [variables.accessKeyId, variables.secretAccessKey, "TOKEN"],
    optional: [variables.sessionToken],
  });
});
