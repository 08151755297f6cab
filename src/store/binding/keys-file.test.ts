import { describe, expect, it, vi } from "vitest";
import { KeysFile, keysOf } from "./keys-file.ts";

const place = {
  remote: "cluster",
  endpoint: "https://s3.example.net",
  region: "us-east-1",
  bucketName: "photos",
  prefix: "",
};
const lines = (id: string) =>
  `LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID=${id}\nLEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY=s\n`;

describe("keysOf()", () => {
  it("reads lines of an environment file", () => {
    const text =
      '# keys\nexport LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID = "a"\r\n' +
      "LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY='b=c'\nLEDGE_REMOTE_CLUSTER_SESSION_TOKEN=t\nOTHER=1\n";
    const keys = { accessKeyId: "a", secretAccessKey: "b=c", sessionToken: "t" };
    expect(keysOf(text, "cluster")).toEqual(keys);
  });

  it("names what is missing", () => {
    expect(() => keysOf("LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID=a\n", "cluster")).toThrow(
      "it has no LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY.",
    );
  });
});

function fileWith(content: { text: string | null }) {
  let reads = 0;
  const fetch = () => {
    reads++;
    return Promise.resolve(new Response(content.text, { status: content.text ? 200 : 404 }));
  };
  return { keys: new KeysFile({ fetch }, "cluster.env", place), reads: () => reads };
}

describe("KeysFile", () => {
  it("looks for other keys after some seconds, and when the service refuses those that it has", async () => {
    vi.useFakeTimers();
    const content: { text: string | null } = { text: lines("first") };
    const { keys, reads } = fileWith(content);
    const first = await keys.current();
    expect(first.accessKeyId).toBe("first");
    content.text = lines("second");
    expect(await keys.current()).toBe(first);
    expect(reads()).toBe(1);
    expect(await keys.renew(first)).toBe(true);
    const second = await keys.current();
    expect(second.accessKeyId).toBe("second");
    expect(await keys.renew(second)).toBe(false);

    content.text = lines("third");
    vi.advanceTimersByTime(5_000);
    expect((await keys.current()).accessKeyId).toBe("third");
    vi.useRealTimers();
  });

  it("keeps its keys while the file is not whole, and explains a file without keys", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const content: { text: string | null } = { text: lines("first") };
    const { keys } = fileWith(content);
    const first = await keys.current();
    for (const text of [null, "LEDGE_REMOTE_CLU"]) {
      content.text = text;
      expect(await keys.renew(first)).toBe(false);
    }
    expect(warn).toHaveBeenCalledTimes(2);
    warn.mockRestore();
    await expect(fileWith({ text: null }).keys.current()).rejects.toThrow(
      'The remote "cluster" (https://s3.example.net) has no keys. The file of keys "cluster.env" cannot be used: ' +
        "the folder of --directory-path=keys has no such file.",
    );
  });
});
