import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { disposition } from "../src/files.ts";
import { findUpload } from "../src/upload-record.ts";
import { network } from "./browser.ts";

interface Status {
  id: string;
  key: string;
  partSize: number;
  parts: number[];
}

const partSize = 8 * 1024 * 1024;

const create = (body: unknown) =>
  network("/uploads", { method: "POST", body: JSON.stringify(body) });
const startUpload = async (name: string, size: number) =>
  (await create({ name, size, type: "text/plain" })).json<Status>();
const putPart = (id: string, number: number | string, body: BodyInit) =>
  network(`/uploads/${id}/${number}`, { method: "PUT", body });
const complete = (id: string) => network(`/uploads/${id}/complete`, { method: "POST" });

describe("POST /uploads", () => {
  it("returns the part size and the address of the upload", async () => {
    const response = await create({ name: "new.bin", size: partSize + 1 });
    expect(response.status).toBe(201);
    const status = await response.json<Status>();
    expect(status).toMatchObject({ key: "new.bin", partSize, parts: [] });
    expect(response.headers.get("location")).toBe(`/uploads/${status.id}`);
  });

  it.each([
    null,
    {},
    { name: "", size: 1 },
    { name: "x".repeat(1025), size: 1 },
    { name: "x" },
    { name: "x", size: -1 },
    { name: "x", size: 1.5 },
    { name: "x", size: 1e17 },
  ])("refuses %o", async (body) => {
    expect((await create(body)).status).toBe(400);
  });
});

describe("PUT /uploads/<id>/<part>", () => {
  it("replaces a part that was sent before", async () => {
    const { id } = await startUpload("twice.bin", 3);
    await (await putPart(id, 1, "old")).json();
    await (await putPart(id, 1, "new")).json();
    await (await complete(id)).json();
    expect(await (await network("/files/twice.bin")).text()).toBe("new");
  });

  it.each([0, 3, "x", "1.5"])("answers 404 for part %s", async (number) => {
    const { id } = await startUpload("parts.bin", partSize + 1);
    expect((await putPart(id, number, "x")).status).toBe(404);
  });

  it("refuses a part of the wrong size", async () => {
    const { id } = await startUpload("size.bin", 3);
    const response = await network(`/uploads/${id}/1`, {
      method: "PUT",
      body: "four",
      headers: { "content-length": "4" },
    });
    expect(response.status).toBe(400);
  });

  it("answers 410 for an aborted upload, and deletes its records", async () => {
    const { id, key } = await startUpload("ended.bin", 3);
    const record = await findUpload(env.UPLOADS, id);
    await env.FILES.resumeMultipartUpload(key, record?.uploadId as string).abort();
    expect((await putPart(id, 1, "new")).status).toBe(410);
    expect((await network(`/uploads/${id}`)).status).toBe(404);
  });
});

describe("POST /uploads/<id>/complete", () => {
  it("lists the missing parts", async () => {
    const { id } = await startUpload("missing.bin", partSize * 2 + 1);
    await (await putPart(id, 3, "x")).json();
    const response = await complete(id);
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ missing: [1, 2] });
    expect((await (await network(`/uploads/${id}`)).json<Status>()).parts).toEqual([3]);
  });

  it("returns the same file when it is repeated, also concurrently", async () => {
    const { id } = await startUpload("repeated.bin", 3);
    await (await putPart(id, 1, "one")).json();
    const answers = await Promise.all([complete(id), complete(id), complete(id)]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    const files = await Promise.all(answers.map((answer) => answer.json()));
    expect(files[1]).toEqual(files[0]);
    expect(await (await complete(id)).json()).toEqual(files[0]);
  });
});

describe("/uploads/<id>", () => {
  it("answers 404 for an unknown id", async () => {
    for (const id of [crypto.randomUUID(), "x", "..%2f"]) {
      expect((await network(`/uploads/${id}`)).status).toBe(404);
    }
  });

  it("lists its methods in Allow", async () => {
    const { id } = await startUpload("allow.bin", 1);
    const response = await network(`/uploads/${id}`, { method: "POST" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, DELETE");
  });
});

describe("/files", () => {
  it("lists files, serves ranges, and deletes files", async () => {
    await env.FILES.put("list me.txt", "0123456789");
    const { files } = await (await network("/files")).json<{ files: { url: string }[] }>();
    expect(files.map(({ url }) => url)).toContain("/files/list%20me.txt");
    const range = await network("/files/list%20me.txt", { headers: { range: "bytes=8-" } });
    expect(range.status).toBe(206);
    expect(await range.text()).toBe("89");
    expect((await network("/files/list%20me.txt", { method: "DELETE" })).status).toBe(204);
    expect((await network("/files/list%20me.txt")).status).toBe(404);
    expect((await network("/files/%ff")).status).toBe(400);
  });
});

describe("disposition()", () => {
  it("encodes any file name", () => {
    expect(disposition("a/b'(1) ü.zip")).toBe(
      "attachment; filename*=UTF-8''b%27%281%29%20%C3%BC.zip",
    );
  });
});
