/** The S3-compatible API through the plugin's options, in a Miniflare that another tool starts. */
import { Miniflare } from "miniflare";
import { expect, it, onTestFinished, vi } from "vitest";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { temporaryFolder } from "../support/store.ts";
import { bucketEntry, plugin, worker } from "../support/worker.ts";
import { S3TestClient } from "./support/s3-client.ts";

interface S3Access {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A script that tells its binding, and stores and reads objects. */
const script = `
  export default {
    async fetch(request, { BUCKET, S3 }) {
      if (request.method === "PUT") await BUCKET.put("by-script", await request.arrayBuffer());
      if (request.method === "POST") return new Response((await BUCKET.get("by-s3")).body);
      return Response.json(S3);
    },
  };`;

const withS3 = (options: Record<string, unknown>, name = "script", isPublic = false) => {
  const site = { SITE: bucketEntry({ bucket_name: "site", public: true }) };
  const made = worker(script, { name, env: isPublic ? site : undefined });
  const S3 = { type: "unsafe:store_s3" as const, dev: { plugin, options } };
  return { config: { ...made.config, env: { ...made.config.env, S3 } } };
};

function start(folder: string | undefined, ...workers: ReturnType<typeof withS3>[]): Miniflare {
  const miniflare = new Miniflare({
    ...(folder !== undefined && { resourcePersistencePath: folder }),
    workers,
  });
  // A Miniflare that has not started rejects.
  onTestFinished(() => miniflare.dispose().catch(() => {}));
  return miniflare;
}

function clientOf({ endpoint, accessKeyId, secretAccessKey }: S3Access): S3TestClient {
  const port = Number(new URL(endpoint).port);
  return new S3TestClient({ port, credentials: { accessKeyId, secretAccessKey } });
}

async function accessOf(miniflare: Miniflare): Promise<S3Access> {
  return (await (await miniflare.dispatchFetch("http://script/")).json()) as S3Access;
}

it.each(["a folder", "a temporary folder"])(
  "a binding serves the buckets of %s until Miniflare ends",
  async (kind) => {
    const miniflare = start(
      kind === "a folder" ? temporaryFolder() : undefined,
      withS3({ port: 0 }),
    );
    const access = await accessOf(miniflare);
    expect(access).toEqual({
      endpoint: expect.stringMatching(/^http:\/\/localhost:\d+$/) as string,
      region: "auto",
      accessKeyId: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      secretAccessKey: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    const { S3 } = await miniflare.getBindings<{ S3: S3Access }>();
    expect(S3).toEqual(access);

    const client = clientOf(access);
    const content = bytesOf(300_000);
    const stored = await miniflare.dispatchFetch("http://script/", {
      method: "PUT",
      body: content,
    });
    expect(stored.status).toBe(200);
    const got = await client.send({ target: "/photos/by-script" });
    expect([got.status, sameBytes(got.body, content)]).toEqual([200, true]);
    const put = await client.send({ method: "PUT", target: "/photos/by-s3", body: content });
    expect(put.status).toBe(200);
    const read = await miniflare.dispatchFetch("http://script/", { method: "POST" });
    expect(sameBytes(new Uint8Array(await read.arrayBuffer()), content)).toBe(true);

    await miniflare.dispose();
    // The server ends a moment after the runtime.
    const call = () => client.send({ target: "/photos/by-script" });
    await vi.waitFor(() => expect(call()).rejects.toThrow("ECONNREFUSED"), { timeout: 60_000 });
  },
);

it("a binding keeps its address when the script changes, and takes other options", async () => {
  const credentials = { access_key_id: "some-key", secret_access_key: "some-secret" };
  const folder = temporaryFolder();
  const miniflare = start(folder, withS3({ port: 0, ...credentials }));
  const first = await accessOf(miniflare);
  expect(first).toMatchObject({ accessKeyId: "some-key", secretAccessKey: "some-secret" });
  const set = (options: Record<string, unknown>, isPublic = false) =>
    miniflare.setOptions({
      resourcePersistencePath: folder,
      workers: [withS3(options, "script", isPublic)],
    });
  await set({ port: 0, ...credentials });
  expect(await accessOf(miniflare)).toEqual(first);
  const list = await clientOf(first).send({ target: "/" });
  expect([list.status, list.text.includes("<Name>photos</Name>")]).toEqual([200, true]);
  await set({ port: 0, ...credentials, secret_access_key: "other-secret" });
  const second = await accessOf(miniflare);
  expect(second.secretAccessKey).toBe("other-secret");
  expect((await clientOf(second).send({ target: "/photos" })).status).toBe(200);

  // A bucket that is public answers requests without a signature.
  const client = clientOf(second);
  expect((await client.send({ method: "PUT", target: "/site" })).status).toBe(200);
  for (const target of ["/site/page", "/photos/page"]) {
    expect((await client.send({ method: "PUT", target, body: "hi" })).status).toBe(200);
    expect((await client.send({ target, isAnonymous: true })).status).toBe(400);
  }
  await set({ port: 0, ...credentials }, true);
  const served = clientOf(await accessOf(miniflare));
  const page = await served.send({ target: "/site/page", isAnonymous: true });
  expect([page.status, page.text]).toEqual([200, "hi"]);
  expect((await served.send({ target: "/photos/page", isAnonymous: true })).status).toBe(400);
});

it("a binding serves buckets with their options", async () => {
  const { config } = withS3({ port: 0 });
  const archive = { bucket_name: "archive", storage_class: "InfrequentAccess" } as const;
  const env = {
    ...config.env,
    ARCHIVE: bucketEntry({ ...archive, s3_compatibility: "aws" }),
    // Another binding of the same bucket, which leaves out what the first says.
    SAME: bucketEntry({ bucket_name: "archive" }),
  };
  const client = clientOf(await accessOf(start(temporaryFolder(), { config: { ...config, env } })));
  for (const bucketName of ["archive", "photos"]) {
    const target = `/${bucketName}/key`;
    expect((await client.send({ method: "PUT", target, body: "hi" })).status).toBe(200);
    const { headers } = await client.send({ method: "HEAD", target });
    const { status } = await client.send({ target: `${target}?tagging` });
    const isArchive = bucketName === "archive";
    const expected = isArchive ? ["STANDARD_IA", 200] : [undefined, 501];
    expect([headers["x-amz-storage-class"], status]).toEqual(expected);
  }
});

it("options that are not valid are refused with the name of the binding", async () => {
  const wrong = start(undefined, withS3({ prot: 1, access_key_id: "some-key" }));
  await expect(wrong.ready).rejects.toThrow(/S3 endpoint "S3": .*prot/);
  const two = start(undefined, withS3({ port: 0 }), withS3({ port: 1 }, "other"));
  await expect(two.ready).rejects.toThrow(/"S3" and "S3" of type "store_s3" have different/);
});

it("a name of a bucket in the state folder and of a bucket on a remote is refused", async () => {
  const keys = { access_key_id: "some-key", secret_access_key: "some-secret" };
  const remote = { name: "cluster", endpoint: "http://127.0.0.1:1", ...keys };
  const { config } = withS3({ port: 0 });
  const env = { ...config.env, OTHER: bucketEntry({ bucket_name: "photos", remote }) };
  const two = start(undefined, { config: { ...config, env } });
  await expect(two.ready).rejects.toThrow(
    'Store bucket "OTHER": "photos" is the name of two buckets: this bucket is on the remote "cluster", ' +
      "and the bucket of BUCKET is in the state folder.",
  );
});
