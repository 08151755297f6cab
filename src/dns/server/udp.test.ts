import { createSocket } from "node:dgram";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkUnshared } from "./udp.ts";

/** A port that a socket has which would share it. */
async function takePort(host: string): Promise<number> {
  const socket = createSocket({ type: "udp4", reusePort: true });
  onTestFinished(() => void socket.close());
  socket.bind(0, host);
  await once(socket, "listening");
  return socket.address().port;
}

describe("checkUnshared()", () => {
  it("resolves for a port that no socket has, at an address of either family", async () => {
    await checkUnshared({ host: "127.0.0.1", port: 0 });
    const code = await checkUnshared({ host: "::1", port: 0 }).then(
      () => null,
      (error: NodeJS.ErrnoException) => error.code,
    );
    // The codes of a machine without IPv6.
    expect([null, "EADDRNOTAVAIL", "EAFNOSUPPORT"]).toContain(code);
  });

  it("fails for a port that another socket would share", async () => {
    const port = await takePort("127.0.0.1");
    await expect(checkUnshared({ host: "127.0.0.1", port })).rejects.toThrow("EADDRINUSE");
  });
});
