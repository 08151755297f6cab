/**
 * A script that makes every kind of write once, one after the other, and answers with all results.
 * The results do not depend on the prefix of the keys, so two runs can be compared.
 */
export const lostAnswersScript = `
const bytes = (size, seed) => new Uint8Array(size).fill(seed);
const hash = async (object) => {
  if (object === null) return null;
  const digest = await crypto.subtle.digest("MD5", await object.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
};

async function run(bucket, prefix) {
  const results = [];
  const step = async (name, work) => {
    try {
      const value = await work();
      results.push([name, value?.etag ?? value ?? null]);
      return value;
    } catch (error) {
      results.push([name, String(error)]);
      return null;
    }
  };
  const put = (name, size, seed, options) =>
    bucket.put(prefix + name, bytes(size, seed), options);
  const upload = async (name) => ({ created: await bucket.createMultipartUpload(prefix + name) });

  await step("put inline", () => put("inline", 100, 1));
  await step("put file", () => put("file", 200000, 2));
  const first = await step("put if absent", () =>
    put("conditional", 100, 3, { onlyIf: { etagDoesNotMatch: "*" } }));
  await step("put if match", () =>
    put("conditional", 200000, 4, { onlyIf: { etagMatches: first?.etag } }));
  await step("put if match, refused", () =>
    put("conditional", 200000, 5, { onlyIf: { etagMatches: first?.etag } }));
  await step("replace file", () => put("file", 200001, 6));
  await step("delete inline", () => bucket.delete(prefix + "inline"));
  await step("put again", () => put("inline", 100, 7));
  await step("delete file", async () => {
    await put("gone", 200000, 8);
    await bucket.delete(prefix + "gone");
  });
  await step("batch", async () => {
    const objects = await Promise.all([put("b1", 10, 9), put("b2", 10, 10), put("b1", 10, 11)]);
    return objects.map((object) => object.etag);
  });
  const { created } = (await step("create", () => upload("multipart"))) ?? {};
  await step("part inline", () => created.uploadPart(1, bytes(100, 12)));
  const part = await step("part file", () => created.uploadPart(1, bytes(200000, 13)));
  await step("complete", () => created.complete([part]));
  const aborted = (await step("create another", () => upload("aborted")))?.created;
  await step("part of aborted", () => aborted.uploadPart(1, bytes(200000, 14)));
  await step("abort", () => aborted.abort());
  for (const name of ["inline", "file", "conditional", "gone", "b1", "b2", "multipart", "aborted"]) {
    await step("read " + name, async () => hash(await bucket.get(prefix + name)));
  }
  const { objects } = await bucket.list({ prefix });
  results.push(["list", objects.map(({ key, etag, size }) => [key.slice(prefix.length), etag, size])]);
  // Results that carry ids of uploads differ from run to run.
  return results.map(([name, value]) =>
    [name, typeof value === "object" && value !== null && !Array.isArray(value) ? "done" : value]);
}

export default {
  async fetch(request, env) {
    const prefix = new URL(request.url).searchParams.get("prefix");
    return Response.json(await run(env.BUCKET, prefix));
  },
};
`;
