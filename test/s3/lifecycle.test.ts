/** Lifecycle rules that S3 puts: the bucket follows them by the clock of tests. */
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startS3 } from "../../dist/index.js";
import { bytesOf } from "../support/bytes.ts";
import { blobFiles, startStore, temporaryFolder, type Store } from "../support/store.ts";
import { S3TestClient, type Received } from "./support/s3-client.ts";

const day = 24 * 60 * 60 * 1000;

interface Served {
  readonly control: Store["control"];
  readonly send: S3TestClient["send"];
  readonly put: (key: string, body?: string | Uint8Array) => Promise<Received>;
  readonly setRules: (...rules: readonly string[]) => Promise<Received>;
  readonly keys: () => Promise<string[]>;
  readonly files: () => number;
}

/** A runtime whose clock the test moves, and the S3-compatible API on its state. */
async function serve(stateFolder = temporaryFolder()): Promise<Served> {
  const store = await startStore(join(stateFolder, "v3"));
  const server = await startS3({ stateFolder, buckets: [{ name: "photos" }], port: 0 });
  onTestFinished(() => server.close());
  const client = new S3TestClient(server);
  const send: Served["send"] = (sent) => client.send(sent);
  return {
    control: store.control,
    send,
    put: (key, body = "content") => send({ method: "PUT", target: `/photos/${key}`, body }),
    setRules: (...rules) => {
      const items = rules.map((rule) => `<Rule><Status>Enabled</Status>${rule}</Rule>`).join("");
      const body = `<LifecycleConfiguration>${items}</LifecycleConfiguration>`;
      return send({ method: "PUT", target: "/photos?lifecycle", body });
    },
    keys: async () => {
      const { text } = await send({ target: "/photos?list-type=2" });
      return Array.from(text.matchAll(/<Key>(.*?)</g), ([, key]) => key as string);
    },
    files: () => blobFiles(join(stateFolder, "v3")).length,
  };
}

const filter = (prefix: string) => `<Filter><Prefix>${prefix}</Prefix></Filter>`;
const expireAfter = (days: number) => `<Expiration><Days>${days}</Days></Expiration>`;
const moveAfter = (days: number) =>
  `<Transition><Days>${days}</Days><StorageClass>STANDARD_IA</StorageClass></Transition>`;

it("objects with the prefix are deleted at the midnight after the days, with their files", async () => {
  const { control, send, put, setRules, keys, files } = await serve();
  expect((await setRules(`${filter("logs/")}${expireAfter(1)}`)).status).toBe(200);
  for (const key of ["logs/small", "kept"]) await put(key);
  await put("logs/large", bytesOf(300_000));
  expect(files()).toBe(1);
  await control.advance(day - 60_000);
  expect(await keys()).toEqual(["kept", "logs/large", "logs/small"]);
  await control.advance(day + 60_000);
  expect(await keys()).toEqual(["kept"]);
  expect((await send({ target: "/photos/logs/small" })).status).toBe(404);
  expect((await send({ method: "HEAD", target: "/photos/logs/large" })).status).toBe(404);
  expect(files()).toBe(0);
  // An object that is stored now waits for its own midnight.
  await put("logs/small", "new");
  expect(await keys()).toEqual(["kept", "logs/small"]);
  await control.advance(2 * day);
  expect(await keys()).toEqual(["kept"]);
});

it("objects move to STANDARD_IA, and keep everything else", async () => {
  const { control, send, put, setRules } = await serve();
  await setRules(moveAfter(1));
  const target = "/photos/aged";
  const headers = {
    "x-amz-meta-color": "red",
    "content-type": "text/plain",
    "x-amz-checksum-crc32": "DUoRhQ==",
  };
  await send({ method: "PUT", target, body: "hello world", headers });
  await put("again");
  const read = { target, headers: { "x-amz-checksum-mode": "ENABLED" } };
  const before = await send(read);
  await control.advance(2 * day);
  const after = await send(read);
  expect(after.headers["x-amz-storage-class"]).toBe("STANDARD_IA");
  expect(before.headers["x-amz-storage-class"]).toBeUndefined();
  expect(after.text).toBe("hello world");
  for (const name of ["etag", "last-modified", ...Object.keys(headers)]) {
    expect(after.headers[name]).toBe(before.headers[name]);
  }
  // A put that replaces the object has the class Standard again.
  await put("again", "new");
  const again = await send({ target: "/photos/again" });
  expect([again.text, again.headers["x-amz-storage-class"]]).toEqual(["new", undefined]);
});

it("a rule with a date, a rule that is put later, and a rule that is removed", async () => {
  const { control, send, put, setRules, keys } = await serve();
  const date = new Date(Date.now() + 3 * day).toISOString().slice(0, 10);
  await setRules(`${filter("by-date/")}<Expiration><Date>${date}</Date></Expiration>`);
  await put("by-date/a");
  await put("old");
  await control.advance(day);
  expect(await keys()).toEqual(["by-date/a", "old"]);
  await control.advance(3 * day);
  expect(await keys()).toEqual(["old"]);
  // The object is older than the rule.
  await setRules(expireAfter(1));
  await control.advance(0);
  expect(await keys()).toEqual([]);
  await put("kept");
  await send({ method: "DELETE", target: "/photos?lifecycle" });
  await control.advance(30 * day);
  expect(await keys()).toEqual(["kept"]);
});

it("more objects than a step reads, while others are put", async () => {
  const { control, put, setRules, keys } = await serve();
  const names = Array.from(
    { length: 1200 },
    (_, index) => `logs/${String(index).padStart(4, "0")}`,
  );
  await setRules(`${filter("logs/")}${expireAfter(1)}`);
  await Promise.all(names.map((name) => put(name, "x")));
  const moved = control.advance(2 * day);
  const again = await Promise.all(["logs/0000", "logs/0600", "logs/1199"].map((key) => put(key)));
  expect(again.map(({ status }) => status)).toEqual([200, 200, 200]);
  await moved;
  const left = await keys();
  // The puts were before the clock moved, or after it; nothing else is left.
  for (const key of left) expect(["logs/0000", "logs/0600", "logs/1199"]).toContain(key);
});

it("a clock that went back moves again", async () => {
  const { control, put, setRules, keys } = await serve();
  await setRules(expireAfter(1));
  await put("one");
  await control.advance(40 * day);
  expect(await keys()).toEqual([]);
  await control.resetClock();
  await put("two");
  await control.advance(day - 60_000);
  expect(await keys()).toEqual(["two"]);
  await control.advance(day + 60_000);
  expect(await keys()).toEqual([]);
});

it("what a sweep does in a test is undone after the test", async () => {
  const { control, send, put, setRules, keys } = await serve();
  await setRules(`${filter("a")}${expireAfter(1)}`, `${filter("b")}${moveAfter(1)}`);
  await put("a", bytesOf(300_000));
  await put("b");
  await control.openLayer(1);
  await control.advance(2 * day);
  expect(await keys()).toEqual(["b"]);
  await control.resetClock();
  await control.closeLayer(1);
  expect(await keys()).toEqual(["a", "b"]);
  expect((await send({ target: "/photos/a" })).body).toHaveLength(300_000);
  expect((await send({ target: "/photos/b" })).headers["x-amz-storage-class"]).toBeUndefined();
});
