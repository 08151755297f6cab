import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { BucketChannels } from "./bucket-channels.ts";

const request = { id: "id", operations: [{ method: "head", key: "key" }] } as const;

/** An endpoint that gives each connection to `serve`, and the channels to it. */
async function startEndpoint(serve: (socket: Socket) => void) {
  const folder = mkdtempSync(join(tmpdir(), "ledge-test-"));
  const path = join(folder, "endpoint");
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const channels = new BucketChannels(path);
  onTestFinished(async () => {
    channels.close();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  });
  return { channels, connections: () => connections };
}

describe("BucketChannels", () => {
  it("asks an owner that refuses channels once a second", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    let ended = 0;
    const { channels, connections } = await startEndpoint((socket) => {
      socket.once("close", () => ended++);
      socket.once("data", () =>
        socket.write("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"),
      );
    });
    const send = () => channels.send("photos", request);
    // The first batch of a process opens no channel.
    expect(await send()).toBeNull();
    for (const attempt of [1, 2]) {
      expect(await send()).toBeNull();
      await vi.waitFor(() => expect(ended).toBe(attempt));
      for (let batch = 0; batch < 50; batch++) {
        expect(await send()).toBeNull();
        await new Promise(setImmediate);
      }
      expect(connections()).toBe(attempt);
      vi.setSystemTime(Date.now() + 1_000);
    }
  });

  it("opens at most 100 channels, and no batch waits for a channel", async () => {
    const { channels, connections } = await startEndpoint((socket) => socket.resume());
    for (let index = 0; index < 240; index++) {
      expect(await channels.send(`bucket-${index % 120}`, request)).toBeNull();
    }
    await vi.waitFor(() => expect(connections()).toBe(100));
  });
});
