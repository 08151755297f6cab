import { once } from "node:events";
import { get } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { createS3Server } from "./http-server.ts";
import type { S3Service } from "./s3-message.ts";

/** A server whose store fails when the test says so, with a request that waits for the store. */
async function serverWithRequest() {
  const asked = Promise.withResolvers<void>();
  const store = Promise.withResolvers<never>();
  const find: S3Service["store"]["find"] = () => {
    asked.resolve();
    return store.promise;
  };
  const errors: unknown[] = [];
  const server = createS3Server({
    store: { find } as S3Service["store"],
    settingsOf: (name) => ({ name, public: true }),
    credentials: { accessKeyId: "key", secretAccessKey: "secret" },
    hosts: [],
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  get(`http://127.0.0.1:${port}/photos/key`).on("error", () => {});
  await asked.promise;
  const fail = async (error: Error): Promise<void> => {
    store.reject(error);
    await setImmediate();
  };
  return { server, errors, fail };
}

describe("createS3Server()", () => {
  it("reports an error that no client has caused", async () => {
    const { errors, fail } = await serverWithRequest();
    const error = new Error("the store fails");
    await fail(error);
    // The rules of CORS are in the store, too.
    expect(errors).toContain(error);
  });

  it("does not report requests that its end breaks off", async () => {
    const { server, errors, fail } = await serverWithRequest();
    server.close();
    await fail(new Error("the store is closed"));
    expect(errors).toEqual([]);
  });
});
