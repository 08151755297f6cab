import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { UserError } from "../base/user-error.ts";
import { remotePlace } from "../store/config/remotes.ts";
import { parseBucketOptions } from "../store/config/store-buckets.ts";
import { readConfig, type ReadConfigOptions } from "./read-config.ts";
import { toWranglerTable, unsafeBindings } from "./wrangler-config.ts";

let folder: string;
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => vi.unstubAllEnvs());

const bucket =
  '[[store_buckets]]\nbinding = "PHOTOS"\nbucket_name = "photos"\nremote = "cluster"\n';
const endpoint = 'endpoint = "https://s3.example.net"\n';
const keys = 'access_key_id = "id"\nsecret_access_key = "secret"\n';

function write(text: string, variables = ""): void {
  writeFileSync(join(folder, "wrangler.toml"), text);
  if (variables !== "") writeFileSync(join(folder, ".dev.vars"), variables);
}

function remoteOf(text: string, options: ReadConfigOptions & { variables?: string } = {}) {
  const { variables, ...selection } = options;
  write(text, variables);
  return readConfig({ folder, ...selection }).buckets[0]?.remote;
}

function mistakesOf(text: string, variables = ""): string[] {
  write(text, variables);
  try {
    readConfig({ folder });
  } catch (error) {
    return (error as Error).message.replaceAll(`${folder}/wrangler.toml:`, "").split("\n");
  }
  return [];
}

/** The options of the first binding. */
function optionsOf(): unknown {
  return unsafeBindings(readConfig({ folder }))[0]?.dev.options;
}

const otherBucket = (names: string, remote?: string) =>
  `[[store_buckets]]\nbinding = "OTHER"\n${names}\n` +
  (remote === undefined ? "" : `remote = "${remote}"\n`);

describe("the name of a bucket", () => {
  const remotes = ["cluster", "other"]
    .map((name) => `[remotes.${name}]\n${endpoint}${keys}`)
    .join("");

  it.each([
    ["another remote", 'bucket_name = "photos"', "other", "bucket_name", 'on the remote "other"'],
    ["the state folder", 'bucket_name = "photos"', undefined, "bucket_name", "in the state folder"],
    [
      "the state folder for a preview",
      'bucket_name = "b"\npreview_bucket_name = "photos"',
      undefined,
      "preview_bucket_name",
      "in the state folder",
    ],
  ])("is refused on a remote and on %s", (_, names, remote, key, place) => {
    const line = key === "bucket_name" ? 7 : 8;
    expect(mistakesOf(bucket + otherBucket(names, remote) + remotes)).toEqual([
      `${line}:1: store_buckets[1].${key} "photos" is the name of two buckets: this bucket is ${place}, ` +
        'and the bucket of PHOTOS is on the remote "cluster". Use another name, or the same remote.',
    ]);
  });

  it.each([
    ["two bindings of one remote", 'bucket_name = "photos"', "cluster"],
    [
      "another bucket in a preview",
      'bucket_name = "photos"\npreview_bucket_name = "preview"',
      "other",
    ],
  ])("is accepted for %s", (_, names, remote) => {
    expect(mistakesOf(bucket + otherBucket(names, remote) + remotes)).toEqual([]);
  });
});

describe("[remotes.NAME]", () => {
  it("has defaults for all but the endpoint and the keys", () => {
    expect(remoteOf(`${bucket}[remotes.cluster]\n${endpoint}${keys}`)).toEqual({
      name: "cluster",
      endpoint: "https://s3.example.net",
      region: "us-east-1",
      prefix: "",
      accept: [],
      credentials: { accessKeyId: "id", secretAccessKey: "secret" },
    });
  });

  it("has a region, a prefix, and gaps that are accepted", () => {
    const remote = remoteOf(
      `${bucket}[remotes.cluster]\nendpoint = "http://[::1]:9000/"\n${keys}` +
        'region = "eu-1"\nprefix = "team/"\naccept = ["conditional-put"]\n',
    );
    expect(remote).toMatchObject({
      endpoint: "http://[::1]:9000",
      region: "eu-1",
      prefix: "team/",
      accept: ["conditional-put"],
    });
  });

  it("has bounds, and refuses numbers that can be none", () => {
    const table = `${bucket}[remotes.cluster]\n${endpoint}${keys}`;
    expect(remoteOf(`${table}connections = 16\ncall_timeout = 2.5\n`)?.limits).toEqual({
      connections: 16,
      callMilliseconds: 2500,
    });
    expect(mistakesOf(`${table}connections = 0\nidle_timeout = "5"\n`)).toEqual([
      expect.stringContaining("must be from 1 to 10000"),
      expect.stringContaining("must be a number"),
    ]);
  });

  it("takes keys from .dev.vars before the table, and from the environment before both", () => {
    const text = `${bucket}[remotes.cluster]\n${endpoint}${keys}`;
    const variables =
      "LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID=file-id\nLEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY=file-secret\n";
    const fromFile = { accessKeyId: "file-id", secretAccessKey: "file-secret" };
    expect(remoteOf(text, { variables })?.credentials).toEqual(fromFile);
    vi.stubEnv("LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY", "own-secret");
    vi.stubEnv("LEDGE_REMOTE_CLUSTER_SESSION_TOKEN", "token");
    expect(remoteOf(text, { variables })?.credentials).toEqual({
      accessKeyId: "file-id",
      secretAccessKey: "own-secret",
      sessionToken: "token",
    });
  });

  it("writes a hyphen in the name of a variable as _", () => {
    vi.stubEnv("LEDGE_REMOTE_MY_CLUSTER_ACCESS_KEY_ID", "id");
    vi.stubEnv("LEDGE_REMOTE_MY_CLUSTER_SECRET_ACCESS_KEY", "secret");
    const text = `${bucket.replace("cluster", "my-cluster")}[remotes.my-cluster]\n${endpoint}`;
    expect(remoteOf(text)?.credentials.accessKeyId).toBe("id");
  });

  it("is inherited by an environment, which can have its own", () => {
    const own = `[[env.staging.store_buckets]]\nbinding = "P"\nbucket_name = "p"\nremote = "cluster"\n`;
    const text = `${own}[remotes.cluster]\n${endpoint}${keys}`;
    const staging = { environment: "staging" };
    expect(remoteOf(text, staging)?.endpoint).toBe("https://s3.example.net");
    const other = '[env.staging.remotes.cluster]\nendpoint = "https://other.example.net"\n';
    expect(remoteOf(`${text}${other}${keys}`, staging)?.endpoint).toBe("https://other.example.net");
  });

  it("needs no keys while no bucket uses the remote", () => {
    expect(mistakesOf(`[remotes.cluster]\n${endpoint}`)).toEqual([]);
  });

  it.each([
    [
      `${bucket}[remotes.clutser]\n${endpoint}`,
      '4:1: store_buckets[0].remote names the remote "cluster", which does not exist; did you mean "clutser"?',
    ],
    [
      `${bucket}[remotes.garage]\n${endpoint}`,
      '4:1: store_buckets[0].remote names the remote "cluster", which does not exist; known are garage.',
    ],
    [
      bucket,
      '4:1: store_buckets[0].remote names the remote "cluster", and the file has no remotes. Add [remotes.cluster] with an endpoint.',
    ],
    [
      bucket.replace('"cluster"', "true"),
      '4:1: store_buckets[0].remote must be the NAME of a table [remotes.NAME], as in "cluster".',
    ],
    [
      `${bucket}[remotes.cluster]\n${keys}`,
      '5:1: remotes.cluster.endpoint is missing. Add it, as in "https://s3.example.net".',
    ],
    [
      `${bucket}[remotes.cluster]\nendpoint = "s3.example.net"\n${keys}`,
      '6:1: remotes.cluster.endpoint "s3.example.net" is not a URL of http or https. Write it as in "https://s3.example.net".',
    ],
    [
      `${bucket}[remotes.cluster]\nendpoint = "https://s3.example.net/photos"\n${keys}`,
      '6:1: remotes.cluster.endpoint must be an origin without a path, as in "https://s3.example.net". The bucket is bucket_name of [[store_buckets]].',
    ],
    [
      `${bucket}${bucket.replace("PHOTOS", "MORE")}[remotes.cluster]\n${endpoint}`,
      "9:1: remotes.cluster has no access_key_id and no secret_access_key. Set LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID and LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY in .dev.vars or in the environment.",
    ],
    [
      `${bucket}[remotes.cluster]\n${endpoint}access_key_id = "id"\n`,
      "5:1: remotes.cluster has no secret_access_key. Set LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY in .dev.vars or in the environment.",
    ],
    [
      `${bucket}[remotes.cluster]\n${endpoint}${keys}accept = ["conditional-get"]\n`,
      '9:11: remotes.cluster.accept[0] must be "conditional-put", "conditional-complete" or "conditional-delete", not "conditional-get".',
    ],
    [
      `${bucket}[remotes.cluster]\n${endpoint}${keys}regoin = "eu-1"\n`,
      '9:1: remotes.cluster.regoin is not a key; did you mean "region"?',
    ],
    [
      `[remotes."a b"]\n${endpoint}`,
      '1:1: remotes.a b "a b" is not the name of a remote. Use letters, digits, "-" and "_".',
    ],
    ["remotes = 1\n", "1:1: remotes must be a table, not a number."],
    [
      `${bucket}verify_reads = true\n[remotes.cluster]\n${endpoint}${keys}`,
      "5:1: store_buckets[0].verify_reads is for buckets in the state folder: the content of a remote bucket is verified by its service. Remove the key.",
    ],
    [
      `${bucket}durability = "process"\n[remotes.cluster]\n${endpoint}${keys}`,
      "5:1: store_buckets[0].durability is for buckets in the state folder: the service of a remote bucket decides what its writes survive. Remove the key.",
    ],
  ])("reports a mistake in %j", (text, message) => {
    expect(mistakesOf(text)).toEqual([message]);
  });

  it("reports a variable that cannot be a key", () => {
    const text = `${bucket}[remotes.cluster]\n${endpoint}${keys}`;
    expect(mistakesOf(text, 'LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY="a b"\n')).toEqual([
      "The variable LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY must be ASCII without spaces.",
    ]);
  });
});

function namespaceTable(name: string): string {
  return `[remotes.${name}]\n${endpoint}kv_bucket = "kv"\n`;
}

describe("kv_bucket", () => {
  const namespaces = '[[kv_namespaces]]\nbinding = "KV"\nid = "x"\n';
  it("is the bucket of KV namespaces for a caller that asks, which alone needs the keys", () => {
    write(namespaces + namespaceTable("cluster") + keys);
    const { namespaceBucket } = readConfig({ folder, namespaces: true });
    expect(namespaceBucket).toMatchObject({ bucketName: "kv", remote: { name: "cluster" } });
    write(namespaces + namespaceTable("cluster"));
    expect(readConfig({ folder }).namespaceBucket).toBeUndefined();
    expect(() => readConfig({ folder, namespaces: true })).toThrow("has no access_key_id");
  });

  it("is not asked for by a project without KV namespaces", () => {
    write(namespaceTable("cluster"));
    expect(readConfig({ folder, namespaces: true }).namespaceBucket).toBeUndefined();
  });

  it("is a mistake in a second remote, and as a path", () => {
    expect(mistakesOf(namespaceTable("cluster") + namespaceTable("other"))).toEqual([
      "6:1: remotes.other.kv_bucket is already in remotes.cluster: all KV namespaces are in one bucket.",
    ]);
    const path = namespaceTable("cluster").replace('"kv"', '"kv/sessions"');
    expect(mistakesOf(path)[0]).toContain("must be the name of a bucket of the service");
  });
});

describe("remotePlace()", () => {
  it("has no keys", () => {
    const remote = remoteOf(`${bucket}[remotes.cluster]\n${endpoint}${keys}prefix = "a/"\n`);
    expect(remotePlace(remote!, "photos")).toEqual({
      remote: "cluster",
      endpoint: "https://s3.example.net",
      region: "us-east-1",
      bucketName: "photos",
      prefix: "a/",
    });
  });
});

describe("the options of the plugin", () => {
  const text = `${bucket}[remotes.cluster]\n${endpoint}access_key_id = "id-1"\nsecret_access_key = "secret-1"\n`;

  it("have no keys, and lead to the keys in this process", () => {
    write(text);
    const table = toWranglerTable(readConfig({ folder }));
    expect(JSON.stringify(table)).not.toMatch(/id-1|secret-1/);
    expect(table).not.toHaveProperty("remotes");
    expect(parseBucketOptions("PHOTOS", optionsOf()).remote).toEqual(
      readConfig({ folder }).buckets[0]?.remote,
    );
  });

  it("change with the keys only", () => {
    write(text);
    const first = optionsOf();
    expect(optionsOf()).toEqual(first);
    write(text.replace("secret-1", "secret-2"));
    expect(optionsOf()).not.toEqual(first);
  });

  it("can be written by hand, with keys of the environment", () => {
    const remote = { name: "cluster", endpoint: "https://s3.example.net" };
    const options = { bucket_name: "photos", remote };
    expect(() => parseBucketOptions("PHOTOS", options)).toThrow(
      new UserError(
        'Store bucket "PHOTOS": remote has no access_key_id and no secret_access_key. ' +
          "Set LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID and LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY in the environment.",
      ),
    );
    vi.stubEnv("LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID", "id");
    vi.stubEnv("LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY", "secret");
    expect(parseBucketOptions("PHOTOS", options).remote?.credentials).toEqual({
      accessKeyId: "id",
      secretAccessKey: "secret",
    });
  });

  it("can hold keys", () => {
    const given = { access_key_id: "a", secret_access_key: "b", session_token: "c" };
    const remote = { name: "cluster", endpoint: "https://s3.example.net", ...given };
    expect(parseBucketOptions("P", { bucket_name: "p", remote }).remote?.credentials).toEqual({
      accessKeyId: "a",
      secretAccessKey: "b",
      sessionToken: "c",
    });
  });

  it("refuse verified reads", () => {
    const given = { access_key_id: "a", secret_access_key: "b" };
    const remote = { name: "cluster", endpoint: "https://s3.example.net", ...given };
    expect(() => parseBucketOptions("P", { bucket_name: "p", verify_reads: true, remote })).toThrow(
      'Store bucket "P": verify_reads is for buckets in the state folder',
    );
  });
});
