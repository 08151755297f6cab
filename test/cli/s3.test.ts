/** `ledge s3`, and the URLs of `ledge store presign`. */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { ProjectInfo } from "../../src/explorer/api/project.ts";
import { s3ClientOf } from "../s3/support/served-s3.ts";
import { ledge, DevProcess } from "../support/dev-process.ts";
import { openExplorerLink } from "../support/explorer-access.ts";
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

it("of keys, ledge s3 and ledge explore show only those that Ledge has made", async () => {
  const here = new StoreProject();
  const secret = "a-secret-of-the-user";
  writeFileSync(here.path(".dev.vars"), `S3_ACCESS_KEY_ID=own\nS3_SECRET_ACCESS_KEY=${secret}\n`);
  const server = new DevProcess(process.execPath, [ledge, "s3", "--port", "0"], here.folder);
  const client = await s3ClientOf(server, 0, secret);
  await server.waitForOutput(/^ {2}secret +S3_SECRET_ACCESS_KEY of your secrets file$/m);
  expect((await client.send({ target: "/" })).status).toBe(200);
  expect(server.output).not.toContain(secret);

  const { text } = await here.store("presign", "photos/key", "--json");
  expect(text).toContain("X-Amz-Credential=own%2F");
  expect(text).not.toContain(secret);

  const words = [ledge, "explore", "--no-open", "--port", "0"];
  const explorer = new DevProcess(process.execPath, words, here.folder);
  const [, link] = await explorer.waitForOutput(/^Explorer +(\S+)/m);
  const { address, cookie } = await openExplorerLink(link as string);
  const page = await fetch(`${address}/api/project`, { headers: { cookie } });
  expect(((await page.json()) as ProjectInfo).s3).toEqual({
    url: `http://localhost:${client.port}`,
    accessKeyId: "own",
    secretPlace: "S3_SECRET_ACCESS_KEY of your secrets file",
  });
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
