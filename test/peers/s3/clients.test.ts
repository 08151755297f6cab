/**
 * The S3 clients that people use, on real buckets: each puts a folder of files, gets the folder back
 * and deletes it. The store's own command exports the bucket too, so that both interfaces agree.
 */
import { spawn } from "node:child_process";
import {
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it, vi } from "vitest";
import {
  canMount,
  clientCases,
  didNotRun,
  mountNeeds,
  requireInstalled,
  type ClientProgram,
} from "./client-programs.ts";
import { expectSampleFiles, writeSampleFiles } from "./sample-files.ts";
import { useServedProject } from "./served-project.ts";

const project = useServedProject();
const files = project.path("files");
beforeAll(() => writeSampleFiles(files));

const expectExport = async (bucket: string): Promise<void> =>
  expectSampleFiles(await project.export(bucket));

/** Versions of a client have buckets and folders of their own. */
let count = 0;
const newName = (client: string): string => `${client}-${++count}`;

describe("boto3", () => {
  const script = fileURLToPath(new URL("boto3_work.py", import.meta.url));
  it.for(clientCases("boto3"))("$version", async (python, context) => {
    requireInstalled(python, context);
    const bucket = newName("boto3");
    const copy = project.path(`copy-${bucket}`);
    await project.run(python, script, "put", bucket, files);
    await expectExport(bucket);
    await project.run(python, script, "get", bucket, copy);
    expectSampleFiles(copy);
    expect(await project.run(python, script, "delete", bucket, copy)).toBe("");
  });
});

describe("aws-cli", () => {
  it.for(clientCases("aws"))("$version", async (aws, context) => {
    requireInstalled(aws, context);
    const bucket = newName("aws");
    const copy = project.path(`copy-${bucket}`);
    const s3 = (...words: string[]) => project.run(aws, "--endpoint-url", project.url, ...words);
    await s3("s3", "mb", `s3://${bucket}`);
    await s3("s3", "sync", files, `s3://${bucket}`);
    await expectExport(bucket);
    await s3("s3", "sync", `s3://${bucket}`, copy);
    expectSampleFiles(copy);
    // A second run finds nothing to do.
    expect(await s3("s3", "sync", files, `s3://${bucket}`, "--size-only")).toBe("");

    const url = (await s3("s3", "presign", `s3://${bucket}/größe/日本語 🎈.txt`)).trim();
    expect(await (await fetch(url)).text()).toBe("beyond ASCII");
    const head = await s3("s3api", "head-object", "--bucket", bucket, "--key", "large.bin");
    expect(JSON.parse(head)).toMatchObject({
      ContentLength: 20 * 1024 * 1024,
      ETag: expect.stringMatching(/-3"$/),
    });

    // Copies in parts need tags or conditions, which neither the deployed service nor the store has.
    await s3("configure", "set", "s3.multipart_threshold", "5GB");
    const moved = `s3://${bucket}/moved/large.bin`;
    await s3("s3", "mv", `s3://${bucket}/large.bin`, moved);
    await s3("s3", "cp", moved, project.path("moved.bin"));
    await s3("configure", "set", "s3.multipart_threshold", "8MB");
    const [source, copied] = [`${files}/large.bin`, project.path("moved.bin")].map((path) =>
      readFileSync(path),
    ) as [Buffer, Buffer];
    expect(copied.equals(source)).toBe(true);
    await s3("s3", "rm", "--recursive", `s3://${bucket}`);
    expect(await s3("s3", "ls", `s3://${bucket}`)).toBe("");
    await s3("s3", "rb", `s3://${bucket}`);
  });
});

describe("rclone", () => {
  it.for(clientCases("rclone"))("$version", async (rclone, context) => {
    requireInstalled(rclone, context);
    const bucket = newName("rclone");
    const copy = project.path(`copy-${bucket}`);
    const run = (...words: string[]) =>
      project.run(
        rclone,
        "--config",
        "/dev/null",
        "--s3-provider",
        "Cloudflare",
        "--s3-env-auth",
        "--s3-endpoint",
        project.url,
        "--s3-region",
        "auto",
        "--s3-chunk-size",
        "5M",
        "--s3-upload-cutoff",
        "8M",
        ...words,
      );
    await run("sync", files, `:s3:${bucket}`);
    await run("check", files, `:s3:${bucket}`);
    await run("check", "--download", files, `:s3:${bucket}`);
    await expectExport(bucket);
    await run("sync", `:s3:${bucket}`, copy);
    expectSampleFiles(copy);
    // A sync removes what the source no longer has.
    mkdirSync(project.path("nothing"), { recursive: true });
    await run("sync", project.path("nothing"), `:s3:${bucket}`);
    expect(await run("ls", `:s3:${bucket}`)).toBe("");
    await run("rmdir", `:s3:${bucket}`);
  });
});

describe("s3cmd", () => {
  it.for(clientCases("s3cmd"))("$version", async (s3cmd, context) => {
    requireInstalled(s3cmd, context);
    const bucket = newName("s3cmd");
    const copy = project.path(`copy-${bucket}`);
    mkdirSync(copy);
    const { host } = new URL(project.url);
    const run = (...words: string[]) =>
      project.run(
        s3cmd,
        "--config",
        "/dev/null",
        "--no-ssl",
        "--host",
        host,
        "--host-bucket",
        host,
        "--region",
        "auto",
        "--no-progress",
        ...words,
      );
    await run("mb", `s3://${bucket}`);
    await run("sync", `${files}/`, `s3://${bucket}/`);
    await expectExport(bucket);
    await run("sync", `s3://${bucket}/`, `${copy}/`);
    expectSampleFiles(copy);
    await run("cp", `s3://${bucket}/large.bin`, `s3://${bucket}/copy.bin`);
    expect(await run("info", `s3://${bucket}/copy.bin`)).toMatch(/File size: +20971520/);
    await run("del", "--recursive", "--force", `s3://${bucket}/`);
    expect(await run("ls", `s3://${bucket}/`)).toBe("");
    await run("rb", `s3://${bucket}`);
  });
});

describe("restic", () => {
  it.for(clientCases("restic"))("$version", async (restic, context) => {
    requireInstalled(restic, context);
    const bucket = newName("restic");
    const password = project.path("restic-password");
    writeFileSync(password, "a password");
    const run = (repository: string, ...words: string[]) =>
      project.run(restic, "-r", repository, "-p", password, "--no-cache", ...words);
    const repository = `s3:${project.url}/${bucket}`;
    await run(repository, "init");
    await run(repository, "backup", files);
    writeFileSync(project.path("more"), "more");
    await run(repository, "backup", project.path("more"));
    await run(repository, "check", "--read-data");
    await run(repository, "restore", "--path", files, "latest", "--target", project.path(bucket));
    expectSampleFiles(project.path(bucket, files));
    // The exported objects are a repository too.
    const exported = await project.export(bucket);
    await run(exported, "check", "--read-data");
    await run(repository, "forget", "--keep-last", "1", "--group-by", "host", "--prune");
    expect(JSON.parse(await run(repository, "snapshots", "--json"))).toHaveLength(1);
  });
});

describe("the MinIO client", () => {
  it.for(clientCases("mc"))("$version", async (mc, context) => {
    requireInstalled(mc, context);
    const { run, bucket } = await connectMc(mc);
    const copy = project.path(`copy-${bucket}`);
    await run("mirror", files, `ledge/${bucket}`);
    await expectExport(bucket);
    await run("mirror", `ledge/${bucket}`, copy);
    expectSampleFiles(copy);
    expect(await run("diff", files, `ledge/${bucket}`)).toBe("");
    expect(await run("cat", `ledge/${bucket}/text.txt`)).toBe("text\n");
    await run("rm", "--recursive", "--force", `ledge/${bucket}`);
    await run("rb", `ledge/${bucket}`);
  });

  const checksums = ["CRC64NVME", "CRC32", "CRC32C", "SHA1", "SHA256"];
  it.for(clientCases("mc"))("$version with checksums, in trailers", async (mc, context) => {
    requireInstalled(mc, context);
    for (const checksum of checksums) {
      const { run, bucket } = await connectMc(mc);
      await run("cp", "--recursive", "--checksum", checksum, `${files}/`, `ledge/${bucket}`);
      await expectExport(bucket);
      const stat = await run("stat", `ledge/${bucket}/text.txt`);
      expect(stat).toMatch(new RegExp(`^Checksum +: ${checksum}:`, "m"));
    }
  });

  it.for(clientCases("mc"))(
    "$version pipes streams, whose parts have checksums",
    async (mc, context) => {
      requireInstalled(mc, context);
      const { run, pipe, bucket } = await connectMc(mc);
      for (const name of ["empty", "text.txt", "large.bin"]) {
        await pipe(`${files}/${name}`, `ledge/${bucket}/${name}`);
        await run("cp", `ledge/${bucket}/${name}`, project.path(bucket));
        expect(readFileSync(project.path(bucket)).equals(readFileSync(`${files}/${name}`))).toBe(
          true,
        );
      }
    },
  );

  it.for(clientCases("mc"))(
    "$version does not delete an object with its tags",
    async (mc, context) => {
      requireInstalled(mc, context);
      const { run, pipe, bucket } = await connectMc(mc);
      await pipe(`${files}/text.txt`, `ledge/${bucket}/text.txt`);
      const removed = run("tag", "remove", `ledge/${bucket}/text.txt`);
      await expect(removed).rejects.toThrow("DeleteObjectTagging not implemented");
      expect(await run("cat", `ledge/${bucket}/text.txt`)).toBe("text\n");
      await run("rm", `ledge/${bucket}/text.txt`);
      expect(await run("ls", `ledge/${bucket}`)).toBe("");
    },
  );
});

describe("s3fs", () => {
  it.for(clientCases("s3fs"))("$version", async (s3fs, context) => {
    requireInstalled(s3fs, context);
    if (!canMount()) didNotRun(context, mountNeeds);
    await mounted(s3fs, "photos", (folder) => cpSync(files, folder, { recursive: true }));
    await expectExport("photos");
    await mounted(s3fs, "photos", (folder) => {
      expectSampleFiles(folder);
      expect(readFileSync(`${folder}/text.txt`, "utf8")).toBe("text\n");
    });
  });

  // s3fs copies the parts that have not changed, whose sizes are others than that of the changed part.
  it.for(clientCases("s3fs"))(
    "$version changes the middle of a file with nomixupload",
    async (s3fs, context) => {
      requireInstalled(s3fs, context);
      if (!canMount()) didNotRun(context, mountNeeds);
      const middle = 7_654_321;
      const changeMiddle = (path: string) => {
        const file = openSync(path, "r+");
        writeSync(file, "changed", middle);
        closeSync(file);
      };
      const content = readFileSync(`${files}/large.bin`);
      const changed = Buffer.concat([
        content.subarray(0, middle),
        Buffer.from("changed"),
        content.subarray(middle + "changed".length),
      ]);

      await mounted(s3fs, "documents", (folder) => {
        cpSync(`${files}/large.bin`, `${folder}/large.bin`);
        expect(() => changeMiddle(`${folder}/large.bin`)).toThrow("EIO");
      });
      expect((await storedFile()).equals(content)).toBe(true);

      const change = (folder: string) => changeMiddle(`${folder}/large.bin`);
      await mounted(s3fs, "documents", change, "nomixupload");
      expect((await storedFile()).equals(changed)).toBe(true);
    },
  );
});

/** A bucket for the MinIO client, and how to run it. */
async function connectMc(mc: ClientProgram) {
  const global = ["--quiet", "--config-dir", project.path("mc")];
  const run = (...words: string[]) => project.run(mc, ...global, ...words);
  const { AWS_ACCESS_KEY_ID: id = "", AWS_SECRET_ACCESS_KEY: secret = "" } = project.environment;
  await run("alias", "set", "ledge", project.url, id, secret, "--api", "S3v4");
  const bucket = newName("mc");
  await run("mb", `ledge/${bucket}`);
  /** Gives a file to the standard input. */
  const pipe = (file: string, ...words: string[]) => {
    const script = 'file=$0 && cat "$file" | "$@"';
    const shell = { version: "", path: "/bin/bash", environment: {} };
    return project.run(shell, "-c", script, file, mc.path, ...global, "pipe", ...words);
  };
  return { run, pipe, bucket };
}

/** Runs `use` on the mounted bucket. s3fs uploads a file when the file is closed. */
async function mounted(
  s3fs: ClientProgram,
  bucket: string,
  use: (folder: string) => void,
  ...options: string[]
): Promise<void> {
  const { AWS_ACCESS_KEY_ID: id = "", AWS_SECRET_ACCESS_KEY: secret = "" } = project.environment;
  const passwords = project.path("s3fs-password");
  writeFileSync(passwords, `${id}:${secret}\n`, { mode: 0o600 });
  const folder = project.path(newName("mounted"));
  mkdirSync(folder);
  const always = [`url=${project.url}`, "use_path_request_style", "endpoint=auto"];
  const list = [...always, `passwd_file=${passwords}`, ...options].join();
  const child = spawn(s3fs.path, [bucket, folder, "-f", "-o", list], { stdio: "pipe" });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  }
  const exited = new Promise((resolve) => child.once("exit", resolve));
  try {
    await vi.waitFor(
      () => {
        if (child.exitCode !== null) throw new Error(`s3fs has ended: ${printed}`);
        expect(readFileSync("/proc/mounts", "utf8")).toContain(folder);
      },
      { timeout: 60_000 },
    );
    use(folder);
  } finally {
    child.kill("SIGTERM");
    await exited;
  }
}

async function storedFile(): Promise<Buffer> {
  return readFileSync(`${await project.export("documents")}/large.bin`);
}
