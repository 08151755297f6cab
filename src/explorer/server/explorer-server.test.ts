import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { accessCookie, basePath } from "./access-rule.ts";
import { ChangeFeed } from "./activity-log.ts";
import type { ExplorerCall, Route } from "./call.ts";
import { ExplorerServer } from "./explorer-server.ts";

const token = "0".repeat(32);

/** The errors that the server reports, and a request for the route. */
async function serve(handle: Route["handle"]) {
  const errors: unknown[] = [];
  const server = new ExplorerServer({
    context: {} as ExplorerCall["context"],
    routes: [{ method: "GET", path: "/api/route", handle }],
    changes: new ChangeFeed(),
    token,
    onError: (error) => errors.push(error),
  });
  const port = await server.listen(0, "127.0.0.1");
  onTestFinished(() => server.close());
  const cookie = accessCookie(token).split(";")[0] as string;
  const request = (signal?: AbortSignal) =>
    fetch(`http://127.0.0.1:${port}${basePath(token)}/api/route`, {
      headers: { cookie },
      signal: signal ?? null,
    });
  return { errors, request };
}

it("ExplorerServer reports an error of its own", async () => {
  const { errors, request } = await serve(() => Promise.reject(new Error("broken")));
  expect((await request()).status).toBe(500);
  expect(errors).toEqual([new Error("broken")]);
});

it("ExplorerServer reports no error of a request that the browser breaks off", async () => {
  const began = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<void>();
  const { errors, request } = await serve(async ({ signal }) => {
    began.resolve();
    await once(signal, "abort");
    failed.resolve();
    throw new Error("aborted");
  });
  const ended = new AbortController();
  const response = request(ended.signal);
  await began.promise;
  ended.abort();
  await expect(response).rejects.toThrow("aborted");
  await failed.promise;
  await setImmediate();
  expect(errors).toEqual([]);
});
