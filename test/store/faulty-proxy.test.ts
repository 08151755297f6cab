/** The proxy of the fault tests, in front of our own S3 endpoint, which verifies each signature. */
import { AwsClient } from "aws4fetch";
import { describe, expect, it, onTestFinished } from "vitest";
import { useS3 } from "../s3/support/running-s3.ts";
import {
  scheduledFaults,
  startFaultyProxy,
  type FaultyProxy,
  type ProxyFault,
  type ProxyRule,
} from "../support/faulty-proxy.ts";

const s3 = useS3({ buckets: [{ name: "photos" }] });

interface ThroughProxy {
  readonly proxy: FaultyProxy;
  /** A signed request through the proxy. */
  readonly send: (
    method: string,
    path: string,
    body?: string,
    signal?: AbortSignal,
  ) => Promise<Response>;
  /** The content at the service, read without the proxy. */
  readonly stored: (path: string) => Promise<string | null>;
}

async function through(rule: ProxyRule): Promise<ThroughProxy> {
  const service = `http://127.0.0.1:${s3.server.port}`;
  const proxy = await startFaultyProxy(service, rule);
  onTestFinished(() => proxy.close());
  const place = { service: "s3", region: "us-east-1", retries: 0 };
  const client = new AwsClient({ ...s3.server.credentials, ...place });
  return {
    proxy,
    send(method, path, body, signal) {
      const content = body === undefined ? {} : { body: new TextEncoder().encode(body) };
      const ended = signal === undefined ? {} : { signal };
      return client.fetch(proxy.endpoint + path, { method, ...content, ...ended });
    },
    async stored(path) {
      const answer = await client.fetch(service + path);
      return answer.ok ? answer.text() : null;
    },
  };
}

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}

/** The fault hits the first PUT. */
const firstPut = (fault: ProxyFault): ProxyRule =>
  scheduledFaults([{ fault, nth: 1, matches: ({ method }) => method === "PUT" }]);

describe("startFaultyProxy()", () => {
  it("passes signed requests on, with paths and headers as they are", async () => {
    const { proxy, send, stored } = await through(() => null);
    const large = "0123456789".repeat(300_000);
    const path = "/photos/a%20b/%F0%9F%98%80//c?X-Amz-User-Agent=a%2Fb";
    expect((await send("PUT", path, large)).status).toBe(200);
    const read = await send("GET", path);
    expect(await read.text()).toBe(large);
    expect(read.headers.get("content-length")).toBe("3000000");
    expect(await stored("/photos/a%20b/%F0%9F%98%80//c")).toBe(large);
    expect((await send("HEAD", path)).headers.get("content-length")).toBe("3000000");
    expect((await send("DELETE", path)).status).toBe(204);
    expect(proxy.log).toEqual([
      { number: 1, method: "PUT", path, fault: null, serviceStatus: 200 },
      { number: 2, method: "GET", path, fault: null, serviceStatus: 200 },
      { number: 3, method: "HEAD", path, fault: null, serviceStatus: 200 },
      { number: 4, method: "DELETE", path, fault: null, serviceStatus: 204 },
    ]);
  });

  it("drops a request that the service never sees", async () => {
    const { proxy, send, stored } = await through(firstPut({ kind: "drop" }));
    await expect(send("PUT", "/photos/dropped", "content")).rejects.toThrow("fetch failed");
    expect(await stored("/photos/dropped")).toBeNull();
    expect(proxy.log).toMatchObject([{ fault: "drop", serviceStatus: null }]);
    expect((await send("PUT", "/photos/dropped", "content")).status).toBe(200);
  });

  it("loses the answer to a request that the service executes", async () => {
    const { proxy, send, stored } = await through(firstPut({ kind: "lost answer" }));
    await expect(send("PUT", "/photos/lost", "content")).rejects.toThrow("fetch failed");
    expect(await stored("/photos/lost")).toBe("content");
    expect(proxy.log).toMatchObject([{ fault: "lost answer", serviceStatus: 200 }]);
  });

  it("truncates the body of an answer, whose length says so", async () => {
    const { proxy, send } = await through(() => null);
    await send("PUT", "/photos/truncated", "0123456789");
    proxy.setRule(() => ({ kind: "truncated answer" }));
    const answer = await send("GET", "/photos/truncated");
    expect([answer.status, answer.headers.get("content-length")]).toEqual([200, "10"]);
    const received: string[] = [];
    const reading = async (): Promise<void> => {
      for await (const chunk of answer.body!) received.push(new TextDecoder().decode(chunk));
    };
    await expect(reading()).rejects.toThrow("terminated");
    expect(received.join("")).toBe("01234");
    await expect(send("HEAD", "/photos/truncated")).rejects.toThrow("fetch failed");
  });

  it.each([
    { status: 500, isExecuted: true, code: "InternalError" },
    { status: 500, isExecuted: false, code: "InternalError" },
    { status: 503, isExecuted: true, code: "SlowDown" },
    { status: 503, isExecuted: false, code: "SlowDown" },
  ] as const)("answers $status, executed: $isExecuted", async ({ status, isExecuted, code }) => {
    const { send, stored } = await through(firstPut({ kind: "error", status, isExecuted }));
    const path = `/photos/error-${status}-${isExecuted}`;
    const answer = await send("PUT", path, "content");
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain(`<Code>${code}</Code>`);
    expect(await stored(path)).toBe(isExecuted ? "content" : null);
  });

  it.each([true, false])("stalls until the client gives up, executed: %s", async (isExecuted) => {
    const { proxy, send, stored } = await through(firstPut({ kind: "stall", isExecuted }));
    const path = `/photos/stalled-${isExecuted}`;
    const giveUp = new AbortController();
    const failure = failureOf(send("PUT", path, "content", giveUp.signal));
    await expect.poll(() => proxy.log[0]?.serviceStatus).toBe(isExecuted ? 200 : null);
    giveUp.abort();
    expect(await failure).toMatchObject({ name: "AbortError" });
    expect(await stored(path)).toBe(isExecuted ? "content" : null);
  });
});

const request = (number: number) => ({ number, method: "GET", path: "/" });

describe("scheduledFaults()", () => {
  it("hits the same requests for the same seed", () => {
    const fault = { kind: "drop" } as const;
    const hits = (seed: number): number[] => {
      const rule = scheduledFaults([{ fault, probability: 0.3, seed }]);
      return Array.from({ length: 100 }, (_, index) => index).filter((n) => rule(request(n)));
    };
    expect(hits(7)).toEqual(hits(7));
    expect(hits(7)).not.toEqual(hits(8));
    expect(hits(7).length).toBeGreaterThan(15);
    expect(hits(7).length).toBeLessThan(45);
  });

  it("takes the first of several faults, and counts for each", () => {
    const rule = scheduledFaults([
      { fault: { kind: "drop" }, nth: 2 },
      { fault: { kind: "lost answer" }, nth: 2, times: 2 },
    ]);
    const kinds = [1, 2, 3, 4].map((number) => rule(request(number))?.kind ?? null);
    expect(kinds).toEqual([null, "drop", "lost answer", null]);
  });
});
