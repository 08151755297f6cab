import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { StateFiles } from "./state-files.ts";
import { StateServer } from "./state-server.ts";

interface Answer {
  readonly status: number | undefined;
  readonly keepAlive: string | readonly string[] | undefined;
  readonly text: string;
}

async function startServer(): Promise<(path: string) => Promise<Answer>> {
  const folder = mkdtempSync(join(tmpdir(), "ledge-state-"));
  const server = new StateServer(folder, new StateFiles(folder, []));
  await server.listen();
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  return (path) =>
    new Promise((resolve, reject) => {
      const sent = request({ socketPath: server.path, method: "POST", path }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () => {
          const { statusCode: status, headers } = response;
          resolve({ status, keepAlive: headers["keep-alive"], text });
        });
      });
      sent.on("error", reject).end();
    });
}

it("answers whether objects must be aborted", async () => {
  const post = await startServer();
  expect(await post("/open?layer=1")).toMatchObject({ status: 200, text: "false" });
  expect(await post("/close?layer=1&next=2")).toMatchObject({ status: 200, text: "false" });
});

it("says why a step has failed", async () => {
  const post = await startServer();
  expect(await post("/finish")).toMatchObject({
    status: 500,
    text: "No step has begun that could be finished.",
  });
  expect(await post("/other")).toMatchObject({ status: 500, text: "Unknown path /other" });
});

it("does not end a connection that is idle: the runtime would lose the next request", async () => {
  const post = await startServer();
  expect(await post("/open?layer=1")).toMatchObject({ keepAlive: undefined });
});
