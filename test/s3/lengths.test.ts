/** Every answer says how long its body is, so that no client waits for more, or for the end of the connection. */
import { text as textOf } from "node:stream/consumers";
import { expect, it } from "vitest";
import { useS3 } from "./support/running-s3.ts";
import type { Sent } from "./support/s3-client.ts";

const s3 = useS3({ buckets: [{ name: "photos" }] });

/** The status and the lengths in the head of an answer, and the length of its body. */
async function sentBy(method: string, target: string, sent: Omit<Sent, "target"> = {}) {
  const { body = "", headers = {} } = sent;
  const more = { connection: "close", "content-length": String(body.length) };
  const socket = s3.client.open({ method, target, body, headers }, more, String(body));
  const [head = "", content = ""] = (await textOf(socket)).split("\r\n\r\n");
  const lengths = Array.from(head.matchAll(/^(?:content-length|transfer-encoding): (.*)$/gim));
  const status = Number(head.split(" ")[1]);
  return [status, ...lengths.map(([, value]) => value), content.length];
}

it("answers without a body have the length 0, and 204 and 304 have none", async () => {
  const put = (target: string) => sentBy("PUT", target, { body: "hello" });
  expect(await put("/photos/key")).toEqual([200, "0", 0]);
  expect(await sentBy("PUT", "/made")).toEqual([200, "0", 0]);
  const made = await s3.client.send({ method: "POST", target: "/photos/joined?uploads" });
  const upload = `/photos/joined?uploadId=${/<UploadId>(.*?)</.exec(made.text)?.[1]}`;
  expect(await put(`${upload}&partNumber=1`)).toEqual([200, "0", 0]);
  expect(await sentBy("HEAD", "/photos")).toEqual([200, "0", 0]);
  expect(await sentBy("DELETE", upload)).toEqual([204, 0]);
  expect(await sentBy("DELETE", "/photos/absent")).toEqual([204, 0]);
  expect(await sentBy("DELETE", "/made")).toEqual([204, 0]);
  const headers = { "if-none-match": "*" };
  expect(await sentBy("GET", "/photos/key", { headers })).toEqual([304, 0]);
  expect(await sentBy("HEAD", "/photos/key", { headers })).toEqual([304, 0]);
});

it("answers to HEAD have the length of the body that GET has", async () => {
  for (const [key, body] of Object.entries({ full: "hello", empty: "" })) {
    await s3.client.send({ method: "PUT", target: `/photos/${key}`, body });
    const length = body.length;
    expect(await sentBy("GET", `/photos/${key}`)).toEqual([200, String(length), length]);
    expect(await sentBy("HEAD", `/photos/${key}`)).toEqual([200, String(length), 0]);
  }
  const headers = { range: "bytes=1-2" };
  expect(await sentBy("HEAD", "/photos/full", { headers })).toEqual([206, "2", 0]);
  for (const target of ["/photos/absent", "/absent/key"]) {
    const [status, length, bytes] = await sentBy("GET", target);
    expect([status, length]).toEqual([404, String(bytes)]);
    expect(await sentBy("HEAD", target)).toEqual([404, length, 0]);
  }
});
