/**
 * Copies of more than 8 MiB by aws-cli, boto3 and minio-js, which ask for tags or put conditions on the
 * copy of a part: refused as on the deployed service, and done in a bucket with `s3_compatibility = "aws"`.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { cache, clientCases, didNotRun, requireInstalled } from "./client-programs.ts";
import { writeSampleFiles } from "./sample-files.ts";
import { useServedProject } from "./served-project.ts";

const project = useServedProject();
const large = project.path("files/large.bin");
beforeAll(() => writeSampleFiles(project.path("files")));

const refusing = "photos";
const accepting = "copies";
const option = 'The option s3_compatibility = "aws" of the bucket accepts it.';

async function expectCopy(name: string): Promise<void> {
  const copy = readFileSync(join(await project.export(accepting), name));
  expect(copy.equals(readFileSync(large))).toBe(true);
}

describe("aws-cli", () => {
  it.for(clientCases("aws"))("$version", async (aws, context) => {
    requireInstalled(aws, context);
    const name = `aws-${aws.version.split(" ")[0]!.replaceAll("/", "-")}`;
    const copy = (from: string, to: string) =>
      project.run(aws, "--endpoint-url", project.url, "s3", "cp", from, to);
    const copyIn = async (bucket: string) => {
      await copy(large, `s3://${bucket}/${name}`);
      await copy(`s3://${bucket}/${name}`, `s3://${bucket}/copy-of-${name}`);
    };
    await expect(copyIn(refusing)).rejects.toThrow(option);
    await copyIn(accepting);
    await expectCopy(`copy-of-${name}`);
  });
});

const boto3Copy = `
import boto3, os, sys
bucket, name, path = sys.argv[1:]
s3 = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"])
s3.upload_file(path, bucket, name)
s3.copy({"Bucket": bucket, "Key": name}, bucket, "copy-of-" + name)
`;

it("boto3 1.43", async (context) => {
  const python = clientCases("boto3").at(-1)!;
  if (!python.version.includes("1.43")) didNotRun(context, "test/peers/s3/install.sh installs it.");
  const copyIn = (bucket: string) => project.run(python, "-c", boto3Copy, bucket, "boto3", large);
  await expect(copyIn(refusing)).rejects.toThrow(option);
  await copyIn(accepting);
  await expectCopy("copy-of-boto3");
});

/** What the test uses of minio-js, which is not a dependency. */
interface MinioJs {
  readonly Client: new (options: object) => {
    fPutObject(bucket: string, key: string, path: string): Promise<unknown>;
    composeObject(destination: object, sources: readonly object[]): Promise<unknown>;
    statObject(bucket: string, key: string): Promise<unknown>;
  };
  readonly CopySourceOptions: new (options: object) => object;
  readonly CopyDestinationOptions: new (options: object) => object;
}

it("minio-js", async (context) => {
  const folder = join(cache, "minio-js");
  if (!existsSync(folder)) didNotRun(context, "test/peers/s3/install.sh installs it.");
  const minio = createRequire(join(folder, "package.json"))("minio") as MinioJs;
  const { hostname, port } = new URL(project.url);
  const client = new minio.Client({
    endPoint: hostname,
    port: Number(port),
    useSSL: false,
    region: "auto",
    accessKey: project.environment["AWS_ACCESS_KEY_ID"],
    secretKey: project.environment["AWS_SECRET_ACCESS_KEY"],
  });
  const copyIn = async (bucket: string) => {
    await client.fPutObject(bucket, "minio-js", large);
    const [first, second] = [1, 2].map(
      () => new minio.CopySourceOptions({ Bucket: bucket, Object: "minio-js" }),
    );
    const destination = new minio.CopyDestinationOptions({ Bucket: bucket, Object: "twice" });
    await client.composeObject(destination, [first!, second!]);
  };
  // minio-js aborts the upload, and passes over the error.
  await copyIn(refusing);
  await expect(client.statObject(refusing, "twice")).rejects.toThrow("Not Found");
  await copyIn(accepting);
  const twice = readFileSync(join(await project.export(accepting), "twice"));
  const content = readFileSync(large);
  expect(twice.equals(Buffer.concat([content, content]))).toBe(true);
});
