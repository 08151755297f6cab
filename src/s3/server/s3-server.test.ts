import { get } from "node:http";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { S3Buckets } from "../s3-bucket.ts";
import { S3Server } from "./s3-server.ts";

/** A server whose store fails when the test says so, with a request that waits for the store. */
async function serverWithRequest() {
  const asked = Promise.withResolvers<void>();
  const store = Promise.withResolvers<never>();
  const find: S3Buckets["find"] = () => {
    asked.resolve();
    return store.promise;
  };
  const errors: unknown[] = [];
  const server = new S3Server({
    buckets: { find } as S3Buckets,
    credentials: { accessKeyId: "key", secretAccessKey: "secret" },
    hosts: [],
    computeChecksums: () => ({}),
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => server.close());
  const port = await server.listen(0, "127.0.0.1");
  get(`http://127.0.0.1:${port}/photos/key`).on("error", () => {});
  await asked.promise;
  const fail = async (error: Error): Promise<void> => {
    store.reject(error);
    await setImmediate();
  };
  return { server, errors, fail };
}

describe("S3Server", () => {
  it("reports an error that no client has caused", async () => {
    const { errors, fail } = await serverWithRequest();
    const error = new Error("the store fails");
    await fail(error);
    // The rules of CORS are in the store, too.
    expect(errors).toContain(error);
  });

  it("does not report requests that its end breaks off", async () => {
    const { server, errors, fail } = await serverWithRequest();
    await server.close();
    await fail(new Error("the store is closed"));
    expect(errors).toEqual([]);
  });
});
