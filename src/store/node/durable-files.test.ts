import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { request as requestHttp } from "../../base/node-http.ts";
import { DurableFiles } from "./durable-files.ts";

const name = (last: string): string => `${"a".repeat(16)}.${last.repeat(32)}`;

async function serve(folder = temporaryFolder()) {
  const blobs = join(folder, "blobs/photos");
  mkdirSync(blobs, { recursive: true });
  const files = (await DurableFiles.serve(folder)) as DurableFiles;
  onTestFinished(() => files.close());
  return { folder, blobs, files };
}

async function ask(
  { path: socketPath }: DurableFiles,
  path: string,
  names: unknown,
): Promise<[number | undefined, string]> {
  const sent = requestHttp({ socketPath, path, method: "POST" });
  sent.end(JSON.stringify(names));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return [response.statusCode, await text(response)];
}

describe.skipIf(process.platform === "win32")("DurableFiles", () => {
  it("reports the sizes of files, and null for a file that does not exist", async () => {
    const { blobs, files } = await serve();
    writeFileSync(join(blobs, name("1")), "12345");
    writeFileSync(join(blobs, name("2")), "");
    const names = [name("1"), name("3"), name("2")];
    expect(await ask(files, "/photos", names)).toEqual([200, "[5,null,0]"]);
  });

  it("reports files of a folder that was removed as missing", async () => {
    const { files } = await serve();
    expect(await ask(files, "/other", [name("1")])).toEqual([200, "[null]"]);
  });

  it("syncs more files than it opens at once", async () => {
    const { blobs, files } = await serve();
    const names = Array.from({ length: 200 }, (_, index) => name("0").slice(0, -3) + (100 + index));
    for (const each of names) writeFileSync(join(blobs, each), each);
    const [status, sizes] = await ask(files, "/photos", names);
    expect([status, JSON.parse(sizes)]).toEqual([200, names.map(() => 49)]);
  });

  it.each([
    ["/photos", ["../../lock"]],
    ["/photos", ["database.0123456789abcdef"]],
    ["/photos", [`.kj-tmp.1.1.${name("1")}.partial`]],
    ["/photos", [1]],
    ["/photos", { 0: name("1") }],
    ["/", [name("1")]],
    ["/..", [name("1")]],
    ["/photos%2F..", [name("1")]],
    ["/Photos", [name("1")]],
  ])("refuses what is not a blob of a bucket: %s %j", async (path, names) => {
    const { files } = await serve();
    const [status] = await ask(files, path, names);
    expect(status).toBe(400);
  });

  it("follows no link out of the folder", async () => {
    const { folder, blobs, files } = await serve();
    writeFileSync(join(folder, "secret"), "12345");
    symlinkSync(join(folder, "secret"), join(blobs, name("1")));
    const [status] = await ask(files, "/photos", [name("1")]);
    expect(status).toBe(500);
  });

  it("serves after a process that was killed, and leaves no socket", async () => {
    const { folder, files: killed } = await serve();
    const { files } = await serve(folder);
    expect(await ask(files, "/photos", [name("1")])).toEqual([200, "[null]"]);
    files.close();
    expect(existsSync(killed.path)).toBe(false);
  });
});
