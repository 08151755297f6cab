/** `ledge s3`, and the URLs of `ledge store presign`. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ledge, DevProcess } from "../support/dev-process.ts";
import { StoreProject } from "../support/store-command.ts";

it("serves the buckets, to presigned URLs too, until an interrupt", async () => {
  const here = new StoreProject();
  const server = new DevProcess(process.execPath, [ledge, "s3", "--port", "0"], here.folder);
  const [, url] = await server.waitForOutput(/^S3 API +(\S+)$/m);
  await server.waitForOutput(/^ {2}secret +[0-9a-f]{64}$/m);

  const presign = async (...words: string[]): Promise<string> => {
    const { text, errors } = await here.store("presign", "PHOTOS/a b/ä+.txt", ...words);
    expect(errors).toBe("");
    return text.trim();
  };
  const put = await presign("--method", "PUT", "--expires", "15m");
  expect(put.startsWith(`${url}/photos/`)).toBe(true);
  expect((await fetch(put, { method: "PUT", body: "hello" })).status).toBe(200);
  expect(await (await fetch(await presign())).text()).toBe("hello");
  expect((await fetch(put)).status).toBe(403);
  expect((await here.store("get", "photos/a b/ä+.txt", "copy.txt")).code).toBe(0);
  expect(readFileSync(here.path("copy.txt"), "utf8")).toBe("hello");

  expect(await server.end("SIGINT")).toBe(130);
  await server.processesEnd();

  const { code, text, errors } = await here.store("presign", "photos/key");
  expect({ code, text }).toEqual({ code: 0, text: expect.stringMatching(/^http:.*\n$/) });
  expect(errors).toMatch(/^No server answers this URL yet: start "ledge dev" or "ledge s3"/);
});

it.each([
  [["--expires", "8d"], '--expires must be a time from 1s to 7d, such as 15m, not "8d".'],
  [["--method", "POST"], '--method must be GET, HEAD, PUT or DELETE, not "POST".'],
  [["--endpoint", "nowhere"], "--endpoint must be a URL such as http://localhost:8789"],
])("ledge store presign refuses %j", async (words, message) => {
  const refused = await new StoreProject().store("presign", "photos/key", ...words);
  expect(refused).toMatchObject({ code: 2, text: "" });
  expect(refused.errors).toContain(message);
});
