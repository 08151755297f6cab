import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { expect, it, onTestFinished, vi } from "vitest";
import { encodeFrame } from "../client/message.ts";
import { EndpointClient, endpointPath } from "./endpoint.ts";

it("EndpointClient opens at most 100 channels, and no batch waits for a channel", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ledge-test-"));
  const channels: Duplex[] = [];
  const server = createServer((_, response) => response.end(encodeFrame([])));
  server.on("upgrade", (_, socket) => channels.push(socket));
  await new Promise<void>((resolve) => server.listen(endpointPath(folder), resolve));
  const client = new EndpointClient(folder);
  onTestFinished(async () => {
    client.close();
    for (const channel of channels) channel.destroy();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  });
  for (let index = 0; index < 240; index++) {
    await client.execute(`bucket-${index % 120}`, { id: `id-${index}`, operations: [] });
  }
  await vi.waitFor(() => expect(channels).toHaveLength(100), 30_000);
});
