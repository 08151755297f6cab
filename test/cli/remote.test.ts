/** `ledge store` with a bucket on an S3 service: our own endpoint on another state folder. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RemoteFeatures } from "../../src/store/remote/remote-options.ts";
import type { StoreBucket } from "../../src/types/store.ts";
import { useS3 } from "../s3/support/running-s3.ts";
import { bytesOf } from "../support/bytes.ts";
import { startFaultyProxy } from "../support/faulty-proxy.ts";
import { flipBit } from "../support/databases.ts";
import { StoreProject } from "../support/store-command.ts";

const service = useS3({ buckets: [{ name: "photos" }, { name: "backup" }] });
const large = bytesOf(3_000_000, 4);
const md5 = (bytes: Uint8Array) => createHash("md5").update(bytes).digest("hex");

/** The buckets "photos" and "backup" are at the service, and "archive" is in the state folder. */
class RemoteProject extends StoreProject {
  constructor(prefix: string, keys: object = {}) {
    super();
    const { accessKeyId, secretAccessKey } = service.server.credentials;
    const remote = {
      endpoint: service.server.url,
      access_key_id: accessKeyId,
      secret_access_key: secretAccessKey,
      prefix,
      ...keys,
    };
    const configuration = {
      name: "project",
      compatibility_date: "2026-08-01",
      store_buckets: [
        { binding: "PHOTOS", bucket_name: "photos", remote: "cluster" },
        { binding: "BACKUP", bucket_name: "backup", remote: "cluster" },
        { binding: "ARCHIVE", bucket_name: "archive" },
      ],
      remotes: { cluster: remote },
    };
    writeFileSync(join(this.folder, "wrangler.jsonc"), JSON.stringify(configuration));
  }

  async run(...words: string[]): Promise<string> {
    const { code, text, errors } = await this.store(...words);
    if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${errors}`);
    return text;
  }
}

describe("ledge store with a remote bucket", () => {
  it("leaves remote buckets out of a backup, and says so", async () => {
    const project = new RemoteProject("backups/");
    const { code, text, errors } = await project.store("backup", "out");
    expect({ code, text }).toEqual({ code: 0, text: "Backed up archive: 0 objects, 0 bytes.\n" });
    expect(errors).toBe(
      'Not in the backup, because they are on S3 services: "backup", "photos".\n',
    );
    const refused = await project.store("backup", "other", "--bucket", "photos");
    expect(refused).toMatchObject({
      code: 2,
      errors: expect.stringContaining('is on the remote "cluster", not in the state folder.'),
    });
  });

  it("puts, gets, lists, measures and deletes, without a runtime", async () => {
    const project = new RemoteProject("commands/");
    const file = project.write("cat.png", large);
    await project.run("put", "photos/a/cat.png", file, "--metadata", "owner=me");
    await project.run("put", "photos/b", project.write("b.txt", "text"));
    const head = await project.json("head", "photos/a/cat.png");
    expect(head).toMatchObject({
      etag: md5(large),
      httpMetadata: { contentType: "image/png" },
      customMetadata: { owner: "me" },
      checksums: { md5: md5(large) },
    });
    await project.run("get", "photos/a/cat.png", project.path("copy.png"));
    expect(md5(readFileSync(project.path("copy.png")))).toBe(md5(large));
    expect((await project.store("get", "photos/b", "-")).text).toBe("text");
    expect(await project.run("list", "photos", "--delimiter", "/")).toMatch(/a\/\n.* b$/m);
    const [stats] = await project.json<object[]>("stats", "photos");
    expect(stats).toMatchObject({ objects: 2, bytes: large.length + 4, bytesOnDisk: null });
    expect(await project.run("buckets")).toMatch(/photos +env\.PHOTOS +on cluster, http:/);
    await project.run("delete", "photos/b");
    expect(await project.run("delete", "photos", "--prefix", "a/")).toBe("Deleted 1 object.\n");
    // What the service honours, and nothing else.
    expect(readdirSync(join(project.persistPath, "store"))).toEqual(["remotes"]);
  });

  it("copies between local and remote buckets with checksums", async () => {
    const project = new RemoteProject("copies/");
    const miniflare = await project.serve();
    const { ARCHIVE } = await miniflare.getBindings<{ ARCHIVE: StoreBucket }>();
    await ARCHIVE.put("large", large, { sha256: sha256(large) });
    const steps = [
      ["archive/large", "photos/there"],
      ["photos/there", "backup/further"],
      ["backup/further", "archive/back"],
    ];
    for (const [from, to] of steps) await project.run("cp", from as string, to as string);
    const checksums = { md5: md5(large), sha256: sha256(large) };
    for (const [, to] of steps) {
      expect(await project.json("head", to as string)).toMatchObject({ checksums });
    }
    await project.run("get", "archive/back", project.path("back.bin"));
    expect(md5(readFileSync(project.path("back.bin")))).toBe(md5(large));
  });

  it("imports a folder, skips what is the same, and exports", async () => {
    const project = new RemoteProject("folders/");
    project.write("in/a.txt", "a");
    project.write("in/b/large.bin", large);
    expect(await project.run("import", "photos", project.path("in"))).toMatch("Imported 2 objects");
    expect(await project.run("import", "photos", project.path("in"))).toMatch("2 unchanged");
    expect(await project.run("export", "photos", project.path("out"))).toMatch(
      "Exported 2 objects",
    );
    expect(readFileSync(project.path("out/a.txt"), "utf8")).toBe("a");
    expect(md5(readFileSync(project.path("out/b/large.bin")))).toBe(md5(large));
    await project.run("import", "backup", project.path("out"));
    expect(await project.json("head", "backup/a.txt")).toMatchObject({
      etag: md5(Buffer.from("a")),
    });
  });

  it("checks: finds a damaged object, and names objects of other programs", async () => {
    const project = new RemoteProject("checks/");
    await project.run("put", "photos/intact", project.write("intact", bytesOf(200_001, 5)));
    const foreign = await service.client.send({
      method: "PUT",
      target: "/photos/checks/foreign",
      body: "theirs",
    });
    expect(foreign.status).toBe(200);
    const intact = await project.store("check", "photos");
    expect(intact.text).toBe(
      'photos: 2 objects, 195.3 KiB: intact.\n  1 object of other programs: "foreign".\n',
    );
    expect(intact.code).toBe(0);
    await project.run("put", "photos/damaged", project.write("damaged", bytesOf(200_002, 6)));
    flipBit(blobOf(200_002), 1000);
    const { code, text } = await project.store("check", "photos");
    expect(code).toBe(1);
    expect(text).toMatch(/photos: 3 objects, .*: 1 problem\./);
    expect(text).toMatch(/"damaged": the content has the md5 [0-9a-f]{32}, metadata says/);
    const copied = await project.store("cp", "photos/damaged", "backup/damaged");
    expect(copied.code).toBe(1);
    expect(copied.errors).toMatch('The content of "damaged" does not match its md5.');
    expect((await project.store("head", "backup/damaged")).errors).toMatch("There is no object");
    expect(await project.run("check")).toMatch('photos: not checked, on the remote "cluster"');
  });

  it("says which services the buckets are on, and what they lack", async () => {
    const project = new RemoteProject("probed/");
    expect(await project.run("check", "--probe", "photos")).toMatch(
      /^cluster, bucket "photos": .*, versions (?:off|unknown)\n$/,
    );
    const { services } = (await project.json("check", "--probe")) as {
      services: { place: object; features: object }[];
    };
    expect(services).toMatchObject([
      { place: { bucketName: "backup" }, features: { conditionalDelete: true, seen: {} } },
      { place: { bucketName: "photos" }, features: { unconditionalPut: "unequal tag" } },
    ]);
    expect(JSON.stringify(services)).not.toContain(service.server.credentials.secretAccessKey);
  });

  it("probes a service once a day, and again when asked or when the service is another", async () => {
    const proxy = await startFaultyProxy(service.server.url);
    onTestFinished(() => proxy.close());
    const project = new RemoteProject("kept/", { endpoint: proxy.endpoint });
    const file = project.write("a", "text");
    const probes = async (...words: string[]): Promise<number> => {
      const before = proxy.log.length;
      // A process keeps in memory what a service honours.
      expect(await project.start(...words).end()).toMatchObject({ code: 0 });
      const paths = proxy.log.slice(before).map(({ path }) => path);
      return paths.filter((path) => path.includes(".ledge-probe-")).length;
    };
    expect(await probes("put", "photos/a", file)).toBeGreaterThan(100);
    expect(await probes("put", "photos/b", file)).toBe(0);
    // Another bucket of the service can have versions.
    expect(await probes("put", "backup/a", file)).toBeGreaterThan(100);
    expect(await probes("check", "--probe", "photos")).toBeGreaterThan(100);

    const folder = join(project.persistPath, "store/remotes");
    const files = readdirSync(folder).map((name) => join(folder, name));
    expect(files).toHaveLength(2);
    const change = (edit: (kept: { time: number; features: RemoteFeatures }) => unknown): void => {
      for (const path of files) {
        const kept = JSON.parse(readFileSync(path, "utf8")) as { time: number; features: never };
        writeFileSync(path, JSON.stringify({ ...kept, ...(edit(kept) as object) }));
      }
    };
    change(({ time }) => ({ time: time - 25 * 3_600_000 }));
    expect(await probes("put", "photos/a", file)).toBeGreaterThan(100);
    const other = { server: "another", versioning: "off" };
    change(({ features }) => ({ features: { ...features, service: other } }));
    expect(await probes("put", "photos/a", file)).toBeGreaterThan(100);
    expect(await probes("put", "photos/a", file)).toBe(0);
    writeFileSync(files[0] as string, "half");
    writeFileSync(files[1] as string, "half");
    expect(await probes("put", "photos/a", file)).toBeGreaterThan(100);
    for (const path of files) expect(statSync(path).mode & 0o077).toBe(0);
  });

  it("empties a remote bucket only if it is named", async () => {
    const project = new RemoteProject("resets/");
    await project.run("put", "photos/kept", project.write("kept", "kept"));
    expect(await project.run("reset", "--yes")).toBe("archive: deleted 0 objects and 0 uploads.\n");
    expect(await project.run("reset", "photos", "--yes")).toMatch("photos: deleted 1 object");
  });

  it("needs the keys of the remote only for its buckets", async () => {
    const project = new RemoteProject("keyless/", {
      access_key_id: undefined,
      secret_access_key: undefined,
    });
    expect(await project.run("buckets")).toMatch(/photos +env\.PHOTOS +on cluster/);
    await project.run("put", "archive/a", project.write("a", "a"));
    expect(await project.run("list", "archive")).toMatch(/ a$/m);
    expect(await project.run("reset", "--yes", "--dry-run")).toMatch("archive: 1 object");
    const { code, errors } = await project.store("list", "photos");
    expect(code).toBe(1);
    expect(errors).toMatch(/has no keys\. Set LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID and/);
  });

  it.each([
    ["an unknown key", { access_key_id: "unknown" }, /does not know the access key id/],
    ["a wrong secret", { secret_access_key: "wrong" }, /refused the signature/],
    ["a service that is down", { endpoint: "http://127.0.0.1:1" }, /cannot be reached/],
  ])("says what is wrong: %s", async (_, keys, sentence) => {
    const project = new RemoteProject("wrong/", keys);
    const { code, errors } = await project.store("list", "photos");
    expect(code).toBe(1);
    expect(errors).toMatch(sentence);
    expect(errors.trim().split("\n")).toHaveLength(1);
    expect(errors).not.toMatch(/\(10001\)/);
  });
});

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The file of the service that holds content of this size. */
function blobOf(size: number): string {
  const folder = join(service.stateFolder, "v3", "store", "blobs", "photos");
  const names = readdirSync(folder).map((name) => join(folder, name));
  return names.find((path) => statSync(path).size === size) as string;
}
